import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { restateDispatcher } from '../../src/interop/restate/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { SessionDispatcher } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { RoundRobinProxy } from '../fleet/round-robin-proxy.ts';
import { RestateServer } from './restate-server.ts';

test('a drive that takes longer than Restate waits goes on, and a second one does no harm', async (t) => {
  await using server = await RestateServer.start();
  if (server === undefined) return t.skip('no Restate server for this platform');
  let drives = 0;
  let runs = 0;
  const secondDrive = Promise.withResolvers<void>();
  const work = tool({
    name: 'work',
    description: 'Ends when Restate has called again.',
    execute: async () => {
      runs++;
      await secondDrive.promise;
      return 'ok';
    },
  });
  const store = new MemoryStore();
  const ports: number[] = [];
  await using proxy = await RoundRobinProxy.start({ listPorts: () => ports });
  const open = async (): ReturnType<typeof openRuntime> => {
    const restate = restateDispatcher({ ingress: server.ingress, port: 0, maxDriveMs: 300 });
    const dispatcher: SessionDispatcher = {
      dispatch: restate.dispatch.bind(restate),
      close: restate.close.bind(restate),
      start: async (target) =>
        restate.start({
          app: target.app,
          onError: target.onError.bind(target),
          drive: async (key) => {
            if (++drives > 1) secondDrive.resolve();
            return target.drive(key);
          },
        }),
    };
    const model = new ScriptedModel(({ contents }) =>
      contents.at(-1)?.parts.some(isFunctionResponsePart) === true
        ? { text: 'Done.' }
        : { toolCalls: [{ name: 'work' }] },
    );
    const agents = [agent({ name: 'worker', model, tools: [work] })];
    const runtime = await openRuntime({ agents, store, dispatcher });
    ports.push(restate.port);
    return runtime;
  };
  await using first = await open();
  await using _second = await open();
  await server.register(Number(new URL(proxy.url).port));
  const session = await first.session('s');
  assert.equal(await session.send('Work.').text(), 'Done.');
  assert.equal(runs, 1);
  // Restate sends the session again.
  assert.equal(await session.send('Work more.').text(), 'Done.');
  assert.equal(runs, 2);
});
