import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { agent } from '../../agents/index.ts';
import { isJsonObject, type Json, type JsonObject, type LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { InMemoryArtifactService, loadArtifactsTool, pending, tool } from '../../tools/index.ts';
import { openRuntime } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'petrichor-results-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Text that does not compress, so its size in the store is its length. */
const HUGE = randomBytes(7_500_000).toString('base64');
let stores = 0;

type Result = Extract<LogEvent, { type: 'tool.result' }> & { readonly response: JsonObject };

interface TurnResult {
  readonly results: readonly Result[];
  /** Characters of the largest request to the model. */
  readonly promptCharacters: number;
  readonly storedBytes: number;
  readonly load: (name: string) => Promise<unknown>;
}

type Call = { readonly name: string; readonly args?: JsonObject };

async function runTurn(
  definition: Omit<Parameters<typeof agent>[0], 'name' | 'model'>,
  calls: readonly Call[],
  { artifacts = true, answer }: { artifacts?: boolean; answer?: Json } = {},
): Promise<TurnResult> {
  const model = new ScriptedModel([
    ...calls.map((call) => ({ toolCalls: [{ args: {}, ...call }] })),
    { text: 'Done' },
  ]);
  const service = new InMemoryArtifactService();
  const path = join(folder, `${stores++}.db`);
  await using runtime = await openRuntime({
    agents: [agent({ ...definition, name: 'clerk', model })],
    store: `sqlite:${path}`,
    ...(artifacts && { artifacts: service }),
  });
  const session = await runtime.session('s');
  for await (const _ of session.send('Go'));
  if (answer !== undefined) {
    const [call] = await session.pending();
    assert.ok(call !== undefined);
    for await (const _ of session.answer(call.id, answer));
  }
  const results: Result[] = [];
  for await (const event of session.events(0, { follow: false })) {
    if (event.type === 'tool.result')
      results.push({ ...event, response: isJsonObject(event.response) ? event.response : {} });
  }
  const files = readdirSync(folder).filter((name) => name.startsWith(`${stores - 1}.db`));
  return {
    results,
    promptCharacters: Math.max(
      ...model.requests.map(({ contents }) => JSON.stringify(contents).length),
    ),
    storedBytes: files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
    load: async (name) => service.load({ session: session.key, name }),
  };
}

/** Asserts that the result is truncated with a notice, and that neither prompt nor store has the rest. */
function assertCut({ results, promptCharacters, storedBytes }: TurnResult): JsonObject {
  const [result] = results;
  assert.ok(result !== undefined);
  const { truncation } = result.response;
  assert.ok(isJsonObject(truncation), 'the model gets a notice');
  assert.ok(promptCharacters < 200_000, `the prompt has ${promptCharacters} characters`);
  assert.ok(storedBytes < 3_000_000, `the store has ${storedBytes} bytes`);
  return truncation;
}

describe('a result that is too large for a prompt', () => {
  it('is truncated, saved whole as an artifact, and can be read from there', async () => {
    const turn = await runTurn(
      {
        tools: [
          tool({ name: 'dump', description: 'Dumps.', execute: () => HUGE }),
          loadArtifactsTool(),
        ],
      },
      [{ name: 'dump' }],
    );
    const truncation = assertCut(turn);
    const name = String(truncation['artifact']);
    assert.match(name, /^tool_result_.*\.txt$/);
    assert.equal(truncation['characters'], HUGE.length + 'result'.length + 1);
    assert.match(
      String(truncation['note']),
      /call load_artifacts with artifact_names \["tool_result_/,
    );
    const [result] = turn.results;
    assert.ok(String(result?.response['result']).startsWith(HUGE.slice(0, 80_000)));
    assert.deepEqual(result?.actions?.artifactDelta, { [name]: 0 });
    assert.ok(isDeepStrictEqual(await turn.load(name), { text: HUGE }));
  });

  it('keeps its shape: short members and images stay, long texts are truncated', async () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA'.repeat(60_000) } };
    const turn = await runTurn(
      {
        tools: [
          tool({
            name: 'run',
            description: 'Runs.',
            execute: () => ({ exitCode: 3, stdout: HUGE, stderr: HUGE, content: [picture] }),
          }),
        ],
      },
      [{ name: 'run' }],
      { artifacts: false },
    );
    const [result] = turn.results;
    const { exitCode, stdout, content, truncation } = result?.response ?? {};
    assert.equal(exitCode, 3);
    assert.match(String(stdout), /… \[\d+ characters cut\]$/);
    assert.deepEqual(content, [picture]);
    assert.ok(isJsonObject(truncation));
    assert.equal(truncation['artifact'], undefined);
    assert.match(String(truncation['note']), /The rest is not kept: ask for less/);
  });

  it('as a long list: the model gets the beginning as text', async () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const turn = await runTurn(
      { tools: [tool({ name: 'rows', description: 'Lists.', execute: () => ({ rows }) })] },
      [{ name: 'rows' }],
    );
    assertCut(turn);
    assert.match(String(turn.results[0]?.response['result']), /^\{"rows":\[\{"id":0,/);
  });

  it('as an error: its text is truncated too', async () => {
    const failing = tool({
      name: 'fail',
      description: 'Fails.',
      execute: () => {
        throw new Error(HUGE);
      },
    });
    const turn = await runTurn({ tools: [failing] }, [{ name: 'fail' }]);
    assertCut(turn);
    const [result] = turn.results;
    assert.equal(result?.outcome, 'error');
    const { error } = result?.response ?? {};
    assert.ok(isJsonObject(error));
    assert.equal(error['code'], 'tool_failed');
    assert.ok(String(error['message']).startsWith(HUGE.slice(0, 10_000)));
  });

  it('as an answer from outside: it is truncated before it is stored', async () => {
    const external = tool({ name: 'ask', description: 'Asks outside.' });
    const turn = await runTurn({ tools: [external] }, [{ name: 'ask' }], { answer: HUGE });
    const truncation = assertCut(turn);
    const name = String(truncation['artifact']);
    assert.ok(isDeepStrictEqual(await turn.load(name), { text: HUGE }));
  });

  it('as the result of a callback instead of the tool: it is truncated', async () => {
    const one = tool({ name: 'one', description: 'One.', execute: () => 'one' });
    for (const callbacks of [
      { beforeTool: () => ({ response: { text: HUGE } }) },
      { afterTool: () => ({ response: { text: HUGE } }) },
    ]) {
      assertCut(await runTurn({ tools: [one], callbacks }, [{ name: 'one' }]));
    }
  });

  it('is truncated to the limit of its tool, or else of the agent', async () => {
    const text = 'x'.repeat(5_000);
    const own = tool({
      name: 'own',
      description: 'Own.',
      maxResultCharacters: 1_000,
      execute: () => text,
    });
    const other = tool({ name: 'other', description: 'Other.', execute: () => text });
    const { results } = await runTurn({ tools: [own, other], maxResultCharacters: 2_000 }, [
      { name: 'own' },
      { name: 'other' },
    ]);
    const [first, second] = results.map(({ response }) => String(response['result']).length);
    assert.ok((first ?? 0) < 1_000 && (first ?? 0) > 800, String(first));
    assert.ok((second ?? 0) < 2_000 && (second ?? 0) > 1_500, String(second));
    assert.throws(() => tool({ name: 'a', description: '', maxResultCharacters: 10 }), {
      code: 'invalid_input',
      field: 'maxResultCharacters',
    });
  });

  it('as an answer to a question of the tool: it is not truncated', async () => {
    const lengths: number[] = [];
    const asking = tool({
      name: 'asking',
      description: 'Asks.',
      execute: (_, { answer }) => {
        if (answer === undefined) return pending({ request: 'text?', resume: {} });
        lengths.push(JSON.stringify(answer.response).length);
        return 'thanks';
      },
    });
    const answer = { text: 'y'.repeat(150_000) };
    await runTurn({ tools: [asking] }, [{ name: 'asking' }], { answer });
    assert.deepEqual(lengths, [JSON.stringify(answer).length]);
  });

  it('as the request of a parked call: the call ends with an error', async () => {
    const greedy = tool({
      name: 'greedy',
      description: 'Waits.',
      execute: () => pending({ request: 'text?', resume: HUGE }),
    });
    const { results, storedBytes } = await runTurn({ tools: [greedy] }, [{ name: 'greedy' }]);
    assert.deepEqual(
      results.map(({ response }) => isJsonObject(response['error']) && response['error']['code']),
      ['pending_too_large'],
    );
    assert.ok(storedBytes < 3_000_000);
  });
});

describe('load_artifacts', () => {
  it('reads a long text in pages, none of which is truncated again', async () => {
    const text = Array.from({ length: 25_000 }, (_, i) => `line ${i}`).join('\n');
    const dump = tool({ name: 'dump', description: 'Dumps.', execute: () => text });
    const load = loadArtifactsTool();
    const model = new ScriptedModel((request) => {
      const last = request.contents.at(-1)?.parts[0];
      if (last === undefined || !('functionResponse' in last))
        return { toolCalls: [{ name: 'dump', args: {} }] };
      const { response } = last.functionResponse;
      const { truncation, artifacts } = response;
      assert.ok(truncation === undefined || artifacts === undefined, 'a page is never cut');
      const [page] = (Array.isArray(artifacts) ? artifacts : []) as readonly JsonObject[];
      if (page !== undefined) read.push(String(page['text']));
      const name = isJsonObject(truncation) ? truncation['artifact'] : page?.['name'];
      const offset = page === undefined ? 0 : page['next_offset'];
      if (offset === undefined) return { text: 'Read' };
      return {
        toolCalls: [{ name: 'load_artifacts', args: { artifact_names: [name ?? ''], offset } }],
      };
    });
    const read: string[] = [];
    await using runtime = await openRuntime({
      agents: [agent({ name: 'reader', model, tools: [dump, load], maxResultCharacters: 10_000 })],
      store: 'memory:',
      artifacts: new InMemoryArtifactService(),
    });
    const session = await runtime.session('s');
    for await (const _ of session.send('Go'));
    assert.ok(read.length > 2);
    assert.equal(read.join(''), text);
  });
});
