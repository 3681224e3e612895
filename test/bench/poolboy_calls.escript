#!/usr/bin/env escript
%% Calls through Erlang's poolboy to Python programs behind ports: poolboy_calls.escript workers=2 callers=16 span=0.6
%% python=PYTHON script=port_worker.py. A frame is JSON behind its length in four bytes. Prints a line of JSON, as
%% skep_bench does.
-mode(compile).
-behaviour(gen_server).
-export([main/1, start_link/1, init/1, handle_call/3, handle_cast/2, handle_info/2]).

main(Pairs) ->
    Options = maps:from_list([list_to_tuple(string:split(Pair, "=")) || Pair <- Pairs]),
    Get = fun(Key) -> maps:get(Key, Options) end,
    Workers = list_to_integer(Get("workers")),
    Callers = list_to_integer(Get("callers")),
    Span = list_to_float(Get("span")),
    {ok, Pool} = poolboy:start([{worker_module, ?MODULE}, {size, Workers}, {max_overflow, 0}],
                               [Get("python"), Get("script")]),
    counters(Callers),
    _ = [spawn_link(fun() -> call_for_ever(Pool, Caller) end) || Caller <- lists:seq(1, Callers)],
    timer:sleep(round(Span * 1000 / 4)),
    {Before, Begin} = {answers(Callers), erlang:monotonic_time(microsecond)},
    timer:sleep(round(Span * 1000)),
    {After, End} = {answers(Callers), erlang:monotonic_time(microsecond)},
    io:format("{\"calls_per_s\": ~w}~n", [(After - Before) * 1000000 / (End - Begin)]),
    halt(0).

counters(Callers) ->
    persistent_term:put(answers, atomics:new(Callers, [])).

answers(Callers) ->
    lists:sum([atomics:get(persistent_term:get(answers), Caller) || Caller <- lists:seq(1, Callers)]).

call_for_ever(Pool, Caller) ->
    <<"hello">> = poolboy:transaction(Pool, fun(Worker) -> gen_server:call(Worker, {echo, <<"hello">>}) end, infinity),
    atomics:add(persistent_term:get(answers), Caller, 1),
    call_for_ever(Pool, Caller).

%% A worker of poolboy: a gen_server that owns a port.

start_link([Python, Script]) ->
    gen_server:start_link(?MODULE, [Python, Script], []).

init([Python, Script]) ->
    {ok, open_port({spawn_executable, Python}, [{args, [Script]}, {packet, 4}, binary, use_stdio])}.

handle_call({echo, Value}, _, Port) ->
    port_command(Port, jiffy:encode(#{command => <<"echo">>, args => #{value => Value}})),
    receive
        {Port, {data, Frame}} ->
            #{<<"value">> := Answer} = jiffy:decode(Frame, [return_maps]),
            {reply, Answer, Port}
    end.

handle_cast(_, Port) -> {noreply, Port}.
handle_info(_, Port) -> {noreply, Port}.
