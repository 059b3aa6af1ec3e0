import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { Toolset } from '../../tools/index.ts';
import { CloseTimeoutError } from '../session/runtime-errors.ts';
import { openRuntime } from '../open-runtime.ts';
import type { AgentSource } from './agent-source.ts';

const greeter = (name: string): Agent =>
  agent({ name, model: new ScriptedModel(() => ({ text: 'Hello' })) });

/** A source that closes when it is let, and tells when it is asked to. */
class StuckSource implements AgentSource {
  readonly closing = Promise.withResolvers<void>();
  readonly closed = Promise.withResolvers<void>();
  readonly #names: readonly string[];

  constructor(...names: readonly string[]) {
    this.#names = names;
  }

  readonly open: AgentSource['open'] = async () => ({
    agents: this.#names.map(greeter),
    close: async () => {
      this.closing.resolve();
      return this.closed.promise;
    },
  });
}

async function turnLoop(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
}

test('a source that does not close in time is reported by name, and the runtime closes', async () => {
  const clock = new SimulatedClock(1_000_000);
  const errors: unknown[] = [];
  const order: string[] = [];
  const store = new (class extends MemoryStore {
    override async leave(owner: string): Promise<void> {
      order.push('left');
      return super.leave(owner);
    }
  })();
  const stuck = new StuckSource('a', 'b');
  const nameless = new StuckSource();
  const quick: AgentSource = {
    open: async () => ({ agents: [greeter('c')], close: async () => void order.push('closed') }),
  };
  const runtime = await openRuntime({
    agents: [quick, stuck, nameless],
    store,
    clock,
    closeTimeoutMs: 3000,
    onError: (error) => errors.push(error),
  });
  const closing = runtime.close();
  await Promise.all([stuck.closing.promise, nameless.closing.promise]);
  await turnLoop();
  clock.advance(2999);
  await turnLoop();
  assert.deepEqual([order, errors], [['closed'], []]);
  clock.advance(1);
  await closing;
  assert.deepEqual(order, ['closed', 'left']);
  const [first, second, ...others] = errors;
  assert.ok(first instanceof CloseTimeoutError && second instanceof CloseTimeoutError);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [first.code, first.part, second.part],
    ['close_timeout', 'agents[1]', 'agents[2]'],
  );
  assert.match(
    first.message,
    /^agents\[1\] \(the source of "a", "b"\) did not close within 3000 ms\./,
  );
  assert.match(second.message, /agents found by name/);

  // Its error comes late. It is reported and ends no process.
  stuck.closed.reject(new Error('too late'));
  await turnLoop();
  assert.match(String(errors[2]), /too late/);
});

test('a toolset that does not close in time is reported, and the runtime closes', async () => {
  const clock = new SimulatedClock(1_000_000);
  const errors: unknown[] = [];
  const disposing = Promise.withResolvers<void>();
  const toolset: Toolset & AsyncDisposable = {
    name: 'stuck',
    tools: () => [],
    [Symbol.asyncDispose]: async () => {
      disposing.resolve();
      return new Promise(() => {});
    },
  };
  const runtime = await openRuntime({
    agents: [greeter('a')],
    clock,
    toolsets: [toolset],
    onError: (error) => errors.push(error),
  });
  const closing = runtime.close();
  await disposing.promise;
  clock.advance(9999);
  await turnLoop();
  assert.equal(errors.length, 0);
  clock.advance(1);
  await closing;
  const [error] = errors;
  assert.ok(error instanceof CloseTimeoutError);
  assert.equal(error.part, 'toolsets[0]');
});

test('a source that does not close in time does not hold back the error of another that cannot open', async () => {
  const clock = new SimulatedClock(1_000_000);
  const errors: unknown[] = [];
  const stuck = new StuckSource('a');
  const broken: AgentSource = { open: async () => Promise.reject(new Error('cannot open')) };
  const opening = openRuntime({
    agents: [stuck, broken],
    clock,
    onError: (error) => errors.push(error),
  });
  const failed = assert.rejects(opening, /cannot open/);
  await stuck.closing.promise;
  clock.advance(10_000);
  await failed;
  assert.ok(errors[0] instanceof CloseTimeoutError);
});

test('a time limit that is no number of milliseconds is refused', async () => {
  const agents = [greeter('a')];
  for (const closeTimeoutMs of [0, -1, 0.5, Number.NaN, Infinity])
    await assert.rejects(openRuntime({ agents, closeTimeoutMs }), {
      code: 'invalid_input',
      field: 'closeTimeoutMs',
    });
});
