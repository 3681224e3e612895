// Calls of node's workerpool to processes of node: workerpool_calls.js workers=2 callers=16 span=0.6. Prints a line of
// JSON, as skep_bench does.
const workerpool = require("workerpool");

const options = Object.fromEntries(process.argv.slice(2).map((pair) => pair.split("=")));
const pool = workerpool.pool({ minWorkers: "max", maxWorkers: Number(options.workers), workerType: "process" });
let answers = 0;
let isOver = false;

const echo = (value) => value;
const fail = (error) => {
  if (!isOver) {
    console.error(error);
    process.exit(1);
  }
};
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

async function callForEver() {
  for (;;) {
    if ((await pool.exec(echo, ["hello"])) !== "hello") throw new Error("it does not echo");
    answers += 1;
  }
}

async function main() {
  for (let caller = 0; caller < Number(options.callers); ++caller) callForEver().catch(fail);
  await pause(options.span / 4);
  const [before, begin] = [answers, process.hrtime.bigint()];
  await pause(options.span);
  const rate = (answers - before) / (Number(process.hrtime.bigint() - begin) / 1e9);
  console.log(JSON.stringify({ calls_per_s: rate }));
  isOver = true;
  await pool.terminate(true);
  process.exit(0);
}

main();
