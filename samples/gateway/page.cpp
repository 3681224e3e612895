// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "page.hpp"

namespace gateway {

std::string page() {
    return R"html(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gateway</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }
  textarea, button { font: inherit; padding: .4rem .6rem; box-sizing: border-box; }
  textarea { width: 100%; }
  #story { min-height: 8rem; white-space: pre-wrap; border-left: 3px solid #888; padding-left: 1rem; }
</style>
<h1>gateway</h1>
<label for="text">A text, in one of eight languages, or the beginning of a story</label>
<textarea id="text" rows="3">The sun shines over the city and the function returns</textarea>
<p>
  <button id="predict">Which language is it?</button>
  <button id="generate">Tell a story</button>
  <button id="stop" disabled>Stop</button>
</p>
<p id="answer" role="status"></p>
<p id="story" aria-live="polite"></p>
<script>
const $ = id => document.getElementById(id);
let leaving = null;

const post = (path, body, signal) => fetch(path, {method: 'POST', body: JSON.stringify(body), signal});

$('predict').onclick = async () => {
  const answer = await (await post('/predict', {text: $('text').value})).json();
  $('answer').textContent = answer.message ?? `${answer.language}, ${Math.round(100 * answer.share)} %`;
};

function show(event, data) {
  if (event === 'word') {
    $('story').textContent += (/[.,;]/.test(data) ? '' : ' ') + data;
  } else if (event === 'error') {
    $('answer').textContent = data.message;
  }
}

async function readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split('\n\n');
    rest = events.pop();
    for (const each of events) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(each);
      show(event, JSON.parse(data));
    }
  }
}

$('generate').onclick = async () => {
  $('story').textContent = $('text').value;
  $('answer').textContent = '';
  $('generate').disabled = true;
  $('stop').disabled = false;
  try {
    leaving = new AbortController();
    const response = await post('/generate', {prompt: $('text').value, words: 200}, leaving.signal);
    if (response.ok) {
      await readEvents(response.body);
    } else {
      show('error', await response.json());
    }
  } catch (left) {
    if (left.name !== 'AbortError') {
      throw left;
    }
  } finally {
    $('generate').disabled = false;
    $('stop').disabled = true;
  }
};

$('stop').onclick = () => leaving.abort();
</script>
</html>
)html";
}

} // namespace gateway
