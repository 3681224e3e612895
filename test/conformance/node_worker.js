// A worker in plain Node.js, written from PROTOCOL.md alone. Integers beyond 2**53 lose digits.
const { Socket } = require('node:net'), { setTimeout: sleep, setImmediate: breathe } = require('node:timers/promises');
const { SKEP_PROTOCOL, SKEP_TRANSPORT, SKEP_DATA_FD, SKEP_CONTROL_FD, SKEP_TOKEN: token = '' } = process.env;
delete process.env.SKEP_TOKEN;
if (SKEP_PROTOCOL !== '1') throw new Error(`this worker speaks version 1 of the protocol, not ${SKEP_PROTOCOL}`);
const gone = () => process.exit(70), hasControl = SKEP_TRANSPORT === 'socket';
const open = (fd, readable, writable) => new Socket({ fd: Number(fd), readable, writable }).on('error', gone);
const data = open(hasControl ? SKEP_DATA_FD : 1, hasControl, true).on('drain', goOn); // process.stdout might block
const control = hasControl ? open(SKEP_CONTROL_FD, true, true) : data;
const calls = new Map(), stops = new Map(), tools = new Map(), waiting = [];
let capacity = 4, limits = {}, running = 0, completed = 0, lastTool = 0, closing = null;
const stopOf = (id) => stops.get(id) ?? stops.set(id, new AbortController()).get(id); // a cancel may overtake its call
const taken = (map, key) => { const value = map.get(key); map.delete(key); return value; };
const refuse = (type, message) => { throw { wire: { type, message } }; };
const commands = new Map(Object.entries({ // they return [value, attachments]; the second may be missing
  add: (call, { a, b }) => [a + b],
  echo: (call, { value }) => [value, call.attachments],
  fail: (call, { message }) => { throw new Error(message); },
  big: (call, { bytes }) => ['x'.repeat(bytes)],
  slow: async (call, { ms }) => [await sleep(Math.min(ms, 2 ** 31 - 1), ms, call)],
  tokens: (call, { count }) => sendParts(call, count, (n) => ({ type: 'chunk', value: n - 1 }),
    call.stream ?? refuse('skep.InvalidArguments', 'must be called as a stream'), call.attachments),
  report: (call, { steps }) => sendParts(call, steps, (n) => ({ type: 'progress', fraction: n / steps })),
  ask: (call, { name, args }) => new Promise((resolve, reject) => { // cancelled: the host answers that, too
    send(data, { type: 'tool_call', id: call.id, tool_call: ++lastTool, name: `${name}`, args: { ...args } });
    tools.set(lastTool, { resolve, reject });
  }),
}));
async function sendParts({ id, signal }, count, part, credit, attachments) { // without credit: needs none
  for (let n = 1; n <= count; n++, await breathe()) { // breathe: lets control messages in
    const mustWait = () => data.writableNeedDrain || credit?.chunks <= 0 || credit?.bytes <= 0;
    while (mustWait() && !signal.aborted) await new Promise((resolve) => waiting.push(resolve));
    signal.throwIfAborted();
    addTo(credit, -1, -send(data, { id, ...part(n) }, attachments));
  }
  return [count];
}
const addTo = (credit = {}, chunks, bytes) => { credit.chunks += chunks; credit.bytes += bytes; };
function weigh(value, depth = 1) { // what tree_bytes counts; Infinity: cannot be sent (too deep, not 64 bits)
  if (typeof value === 'number') return Math.abs(value) < 2 ** 63 || Math.abs(value) >= 1e21 ? 24 : Infinity;
  if (Object(value) !== value) return 24 + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  const member = (key) => (Array.isArray(value) ? 0 : 40 + Buffer.byteLength(key)) + weigh(value[key], depth + 1);
  return depth > limits.json_depth ? Infinity : Object.keys(value).reduce((sum, key) => sum + member(key), 56);
}
function send(channel, message, attachments = []) { // throws before anything is sent; returns what a chunk costs
  if (attachments.length) message.attachments = attachments.map((part) => part.length);
  const tree = weigh(message), json = Buffer.from(tree < Infinity ? JSON.stringify(message) : '');
  const frame = Buffer.concat([Buffer.alloc(8), json, ...attachments]);
  const tooMuch = tree > limits.tree_bytes || json.length > limits.json_bytes || frame.length - 4 > limits.frame_bytes;
  const most = { tool_call: limits.tool_call_bytes }[message.type] ?? Infinity;
  if (tooMuch || frame.length - 4 > most || attachments.length > limits.attachments) throw new Error('more than may be sent');
  frame.writeUInt32BE(json.length, frame.writeUInt32BE(frame.length - 4));
  channel.write(frame);
  return frame.length - 8;
}
async function run(call) {
  call.begun = ++running;
  try {
    if (call.signal.aborted) refuse('skep.Cancelled', 'not begun');
    const command = commands.get(call.command) ?? refuse('skep.UnknownCommand', `no command '${call.command}'`);
    const [value = null, attachments] = await command(call, call.args);
    send(data, { type: 'result', id: call.id, value }, attachments);
  } catch ({ wire, message }) {
    const error = { type: call.signal.aborted ? 'skep.Cancelled' : 'Error', message: `${message}`.slice(0, 10000) };
    send(data, { type: 'error', id: call.id, error: wire && weigh(wire) < Infinity ? wire : error });
  }
  goOn(calls.delete(call.id), stops.delete(call.id), running--, completed++);
}
function goOn() { // something has changed: let whatever can begin, continue or end do so
  for (const resume of waiting.splice(0)) resume();
  for (const [, call] of calls) if (!call.begun && !closing && (running < capacity || call.signal.aborted)) run(call);
  if (closing && !running) data.end(() => process.exit(0));
}
const handlers = {
  welcome: (message) => { ({ limits, capacity } = message); send(data, { type: 'ready' }); },
  ping: ({ seq }) => send(control, { type: 'pong', seq, in_flight: running, completed }),
  call: (call, attachments) => calls.set(call.id, { ...call, attachments, signal: stopOf(call.id).signal }),
  cancel: ({ id }) => stopOf(id).abort(),
  credit: ({ id, credit }) => addTo(calls.get(id)?.stream, credit.chunks, credit.bytes),
  tool_result: ({ tool_call, value }, attachments) => taken(tools, tool_call)?.resolve([value, attachments]),
  tool_error: ({ tool_call, error }) => taken(tools, tool_call)?.reject({ wire: error, message: error.message }),
  shutdown: ({ grace_ms }) => { closing = setTimeout(process.exit, grace_ms * 0.9, 0); },
};
for (const channel of hasControl ? [data, control] : [open(0, true, false)]) {
  let length = 0; // of the frame that is being read; 0: comes next
  channel.on('end', gone).on('readable', () => {
    for (let part; (part = channel.read(length || 4))?.length >= (length || 4);) // shorter: cut off by the end
      length = length ? receive(part) : part.readUInt32BE();
  });
}
function receive(frame) {
  let at = 4 + frame.readUInt32BE();
  const message = JSON.parse(frame.toString('utf8', 4, at));
  const attachments = message.attachments?.map((size) => frame.subarray(at, at += size));
  if (at !== frame.length) throw new Error('a frame of the host does not add up');
  goOn(handlers[message.type](message, attachments));
}
process.on('SIGTERM', () => process.exit(0));
send(data, { type: 'hello', protocol: 1, token, pid: process.pid, sdk: 'plain-node/1.0', capacity, control: hasControl,
  commands: [...commands.keys()] });
