// Names from outside that every object of JavaScript has as a member, such as `constructor`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, workflow } from '../../src/agents/index.ts';
import { tool } from '../../src/tools/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { restoreArgs } from '../../src/models/schema/restore-args.ts';
import { runAgent } from './run-agent.ts';

const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty'];

test('a tool and a callback read no state under a key that has no value', async () => {
  const seen: unknown[] = [];
  const look = tool({
    name: 'look',
    description: 'Reads and sets state',
    execute: (_, { state }) => {
      for (const name of NAMES) {
        seen.push(state.get(name));
        state.set(name, 1);
        seen.push(state.get(name));
      }
      return 'done';
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]);
  const looking = agent({
    name: 'looking',
    model,
    tools: [look],
    callbacks: {
      beforeAgent: (context) => {
        seen.push(...NAMES.map((name) => context.state.get(name)));
        return undefined;
      },
    },
  });
  const log = await runAgent(looking).sendAndWait('Go');
  assert.deepEqual(seen, [...NAMES.map(() => undefined), ...NAMES.flatMap(() => [undefined, 1])]);
  assert.deepEqual(
    log.flatMap((event) => (event.type === 'error' ? event.message : [])),
    [],
  );
});

test('a node of a workflow can have such a name, and its runs are counted', async () => {
  const agent = workflow({
    name: 'wf',
    nodes: NAMES.map((name) => ({ kind: 'function', name, run: () => name })),
    edges: NAMES.map((to, index) => ({ from: NAMES[index - 1] ?? 'START', to })),
  });
  const log = await runAgent(agent).sendAndWait('Go');
  assert.deepEqual(
    log.flatMap((event) =>
      event.type === 'agent.message' ? event.nodeInfo?.path.split('/').at(-1) : [],
    ),
    NAMES.map((name) => `${name}@1`),
  );
});

test('a null that no schema describes is left out', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'number' } },
    additionalProperties: true,
  };
  const args = { constructor: null, n: null };
  assert.deepEqual(restoreArgs(args, schema, { nulls: true }), {});
});
