import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import { DuplicateToolError, indexTools } from './index-tools.ts';
import type { ToolParameters } from '../schema/tool-parameters.ts';
import { AsyncSchemaError, type ValidArgs } from '../schema/parsed-args.ts';
import { openToolContext, type ToolCallFacts, type ToolContext } from './tool-context.ts';
import { ExternalToolError, tool, type Tool, type ToolDefinition } from './tool.ts';

const call: ToolCallFacts = {
  callId: 'c1',
  invocationId: 'e-1',
  sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
  agentName: 'assistant',
};

function contextForTest(): ToolContext {
  const { signal } = new AbortController();
  const run = {
    signal,
    firingId: 'f',
    attempt: 1,
    snapshot: new Map(),
    progress: (): void => undefined,
  };
  return openToolContext({ ...call, ...run }).context;
}

function validArgs(of: Tool, args: unknown): ValidArgs {
  const parsed = of.parse(args);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
  return parsed.value;
}

function refusal(of: Tool, args: unknown): string {
  const parsed = of.parse(args);
  assert.ok(!parsed.ok, 'the arguments were accepted');
  return parsed.message;
}

function createDefinition<S extends ToolParameters>(
  more: Partial<ToolDefinition<S>> = {},
): ToolDefinition<S> {
  return { name: 'f', description: 'Does f', ...more };
}

test('a tool declares its name, description and parameters to the model', () => {
  const deleteFile = tool({
    name: 'delete_file',
    description: 'Delete a file',
    parameters: z.object({ path: z.string().describe('Where'), force: z.boolean().default(false) }),
    execute: () => undefined,
  });
  assert.deepEqual(deleteFile.declaration, {
    name: 'delete_file',
    description: 'Delete a file',
    parameters: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where' },
        force: { type: 'boolean', default: false },
      },
      required: ['path'],
    },
  });
});

const libraries: readonly (readonly [name: string, schema: ToolParameters])[] = [
  ['zod', z.object({ path: z.string(), times: z.number().optional() })],
  ['arktype', type({ path: 'string', 'times?': 'number' })],
  ['valibot', toStandardJsonSchema(v.object({ path: v.string(), times: v.optional(v.number()) }))],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: { path: { type: 'string' }, times: { type: 'number' } },
      required: ['path'],
    },
  ],
];

for (const [name, parameters] of libraries) {
  test(`parameters of ${name} are declared to the model and validate its arguments`, () => {
    const f = tool(createDefinition({ parameters }));
    assert.equal(f.declaration.parameters['type'], 'object');
    assert.deepEqual(f.declaration.parameters['required'], ['path']);
    assert.deepEqual(validArgs(f, { path: 'a', times: 2 }), { path: 'a', times: 2 });
    assert.match(refusal(f, { path: 5 }), /^The arguments are not valid: path/);
    assert.match(refusal(f, {}), /path/);
    assert.match(refusal(f, { path: 'a', times: 'often' }), /times/);
    for (const notAnObject of [undefined, null, 'path', ['path']]) {
      assert.match(refusal(f, notAnObject), /must be an object/);
    }
  });
}

test('the tool gets the parsed output of its own schema', async () => {
  const seen: unknown[] = [];
  const remind = tool({
    name: 'remind',
    description: 'Remind',
    parameters: z.object({ at: z.string().transform((text) => new Date(text)) }),
    execute: ({ at }) => {
      seen.push(at);
      return at.getTime();
    },
  });
  const args = validArgs(remind, { at: '1970-01-01T00:00:01Z' });
  assert.equal(await remind.execute(args, contextForTest()), 1000);
  assert.deepEqual(seen, [new Date(1000)]);
});

test('the types of the arguments follow from the parameters', () => {
  tool({
    name: 'f',
    description: '',
    parameters: type({ path: 'string' }),
    // @ts-expect-error -- path is a string
    execute: ({ path }): number => path,
  });
  tool({
    name: 'f',
    description: '',
    parameters: z.object({ path: z.string() }),
    // @ts-expect-error -- there is no such argument
    needsApproval: ({ paths }) => paths === '',
  });
  const f = tool(createDefinition());
  // @ts-expect-error -- arguments must pass parse first
  const unsafe: Parameters<Tool['execute']>[0] = {};
  assert.ok(f.execute.length > 0 && unsafe);
});

test('a tool without parameters takes no arguments', () => {
  const now = tool({ name: 'now', description: 'The time', execute: () => 0 });
  assert.deepEqual(validArgs(now, {}), {});
  assert.match(refusal(now, { zone: 'CET' }), /zone: is not allowed/);
});

test('the defaults are the safe ones', () => {
  const { needsApproval, idempotent, readOnly, timeoutMs, onCrash, longRunning, external } = tool(
    createDefinition({ execute: () => 1 }),
  );
  assert.deepEqual(
    { needsApproval, idempotent, readOnly, timeoutMs, onCrash, longRunning, external },
    {
      needsApproval: false,
      idempotent: false,
      readOnly: false,
      timeoutMs: 60_000,
      onCrash: 'unknown',
      longRunning: false,
      external: false,
    },
  );
});

test('a call in flight at a crash runs again only when that is harmless, or when the tool allows it', () => {
  assert.equal(tool(createDefinition({ readOnly: true })).onCrash, 'rerun');
  assert.equal(tool(createDefinition({ idempotent: true })).onCrash, 'rerun');
  assert.equal(tool(createDefinition({ readOnly: true, onCrash: 'ask' })).onCrash, 'ask');
  assert.equal(tool(createDefinition({ onCrash: 'rerun' })).onCrash, 'rerun');
});

test('a tool without execute is answered from outside, by default within five minutes', async () => {
  const deploy = tool({ name: 'deploy', description: 'Deploy', parameters: z.object({}) });
  assert.deepEqual([deploy.external, deploy.timeoutMs], [true, 300_000]);
  assert.equal(tool(createDefinition({ timeoutMs: 5 })).timeoutMs, 5);
  await assert.rejects(deploy.execute(validArgs(deploy, {}), contextForTest()), ExternalToolError);
});

test('needsApproval can depend on the arguments', () => {
  const transfer = tool({
    name: 'transfer',
    description: 'Transfer money',
    parameters: z.object({ amount: z.number() }),
    needsApproval: ({ amount }, { agentName }) => amount > 100 && agentName === 'assistant',
  });
  assert.ok(typeof transfer.needsApproval === 'function');
  assert.equal(transfer.needsApproval(validArgs(transfer, { amount: 101 }), call), true);
  assert.equal(transfer.needsApproval(validArgs(transfer, { amount: 100 }), call), false);
});

test('a tool that throws synchronously and one that rejects behave the same', async () => {
  const args = validArgs(tool(createDefinition()), {});
  const fail = (): never => {
    throw new Error('no');
  };
  for (const execute of [fail, async () => fail()]) {
    await assert.rejects(
      tool(createDefinition({ execute })).execute(args, contextForTest()),
      /^Error: no$/,
    );
  }
});

for (const name of ['', 'delete file', 'löschen', 'a/b', 'a'.repeat(65)]) {
  test(`the tool name ${JSON.stringify(name.slice(0, 20))} is rejected`, () => {
    assert.throws(
      () => tool(createDefinition({ name })),
      (error) => error instanceof InvalidToolError && /1 to 64 of/.test(error.message),
    );
  });
}

test('a name of 64 letters, digits, _ and - is accepted', () => {
  assert.equal(tool(createDefinition({ name: `a-Z_9${'x'.repeat(59)}` })).name.length, 64);
});

test('a timeout above the limit of timers is rejected', () => {
  for (const timeoutMs of [0, -1, Number.NaN, Infinity, 2_147_483_648]) {
    assert.throws(() => tool(createDefinition({ timeoutMs })), InvalidToolError);
  }
});

test('an asynchronous validation is rejected with a typed error, and its late failure has no effect', async () => {
  const late = async (): Promise<never> => {
    throw new Error('late');
  };
  for (const parameters of [
    z.object({ path: z.string().refine(async () => true) }),
    asLibrary(z.object({ path: z.string() }), late),
  ]) {
    const parsed = tool(createDefinition({ parameters })).parse({ path: 'a' });
    assert.ok(!parsed.ok);
    assert.ok(parsed.error instanceof AsyncSchemaError);
    assert.equal(parsed.error.code, 'async_schema');
    assert.equal(parsed.message, parsed.error.message);
  }
  // An unhandled rejection would fail the test here.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
});

test('a validation that throws rejects the arguments', () => {
  const broken = (): never => {
    throw new Error('the rule is broken');
  };
  const parameters = asLibrary(z.object({}), broken);
  assert.match(refusal(tool(createDefinition({ parameters })), {}), /the rule is broken/);
  const zodSchema = z.object({}).refine(broken);
  assert.match(
    refusal(tool(createDefinition({ parameters: zodSchema })), {}),
    /one of its rules threw/,
  );
});

/** A schema of another library, with a given validation function. */
function asLibrary(
  schema: z.ZodType,
  validate: StandardSchemaV1['~standard']['validate'],
): StandardSchemaV1 {
  return { '~standard': { ...schema['~standard'], vendor: 'acme', validate } };
}

test('two tools with the same name are rejected', () => {
  const f = tool(createDefinition());
  const g = tool(createDefinition({ name: 'g' }));
  assert.deepEqual([...indexTools([f, g]).keys()], ['f', 'g']);
  assert.throws(() => indexTools([f, g, f]), DuplicateToolError);
});
