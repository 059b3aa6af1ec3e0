/**
 * Prints the calls between files on the way of a message, as `FILE -> FILE FUNCTION`: from `session.send` to the write of the input, to the commit
 * of its step, and to the call of the model. The session is hosted and idle, and its store is in memory. Calls of
 * helpers that return before one of the three are not on the way.
 *
 *     node scripts/trace-message.ts
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { reportCalls } from './instrument-calls.ts';

/** A call. What follows an `await`, or runs in a timer or listener, belongs to the call that began it. */
interface Call {
  readonly name: string;
  readonly file: string;
  readonly caller: Call | undefined;
}

const current = new AsyncLocalStorage<Call | undefined>();
const isTracing = new AsyncLocalStorage<boolean>();

reportCalls((name, file, run) => {
  if (isTracing.getStore() !== true) return run();
  const call = { name, file, caller: current.getStore() };
  if (!ENDS.has(`${file} ${name}`)) return current.run(call, run);
  onEnd(call);
  // What the end itself calls is not on the way to it.
  return isTracing.run(false, run);
});

const ENDS: ReadonlySet<string> = new Set([
  'store/memory/memory-store.ts inject',
  'store/memory/memory-store.ts commit',
  'models/scripted/scripted-model.ts generate',
]);

/** The calls on the way, in order. */
const path = new Set<Call>();
let isReached = false;

/** The model is called after the first commit. Later commits are not on the way to it. */
function onEnd(end: Call): void {
  if (isReached) return;
  isReached = end.name === 'generate';
  const chain: Call[] = [];
  for (let call: Call | undefined = end; call !== undefined; call = call.caller)
    chain.unshift(call);
  for (const call of chain)
    if (call.caller !== undefined && call.caller.file !== call.file) path.add(call);
}

const { agent } = await import('../src/agents/index.ts');
const { ScriptedModel } = await import('../src/models/index.ts');
const { openRuntime } = await import('../src/runtime/index.ts');
const { MemoryStore } = await import('../src/store/index.ts');

const model = new ScriptedModel(() => ({ text: 'Hello!' }));
const store = new MemoryStore();
await using runtime = await openRuntime({ agents: [agent({ name: 'helper', model })], store });
const session = await runtime.session('s');
// From here on, the session is hosted and idle.
await session.ask('Hi');
await isTracing.run(true, async () => session.send('Hi').text());
for (const { caller, name, file } of path) console.log(`${caller?.file} -> ${file} ${name}`);
