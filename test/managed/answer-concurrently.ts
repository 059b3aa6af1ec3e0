import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { deployTool, userMessage } from './managed-fixture.ts';

/** A process that answers calls and reports each result. */
class AnsweringProcess implements AsyncDisposable {
  readonly #child: ReturnType<typeof spawnAnsweringProcess>;
  readonly #lines: AsyncIterator<string>;

  constructor(database: string, name: string) {
    this.#child = spawnAnsweringProcess(database, name);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const { value } = await this.#lines.next();
    return String(value);
  }

  async answer(id: string, callId: string): Promise<string> {
    this.#child.stdin.write(`${JSON.stringify({ id, callId })}\n`);
    return this.line();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exited;
  }
}

function spawnAnsweringProcess(database: string, name: string) {
  return spawn(
    process.execPath,
    [join(import.meta.dirname, 'answering-process.ts'), database, name],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
}

/**
 * Lets two processes answer each of this many calls at the same time. One answer counts, and the model gets that one.
 * @throws AssertionError
 */
export async function answerAtOnce(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-answers-'));
  try {
    const database = join(folder, 'sessions.db');
    const model = new ScriptedModel([{ toolCalls: [{ name: 'deploy', args: {} }] }, { text: '!' }]);
    await using runtime = await openManagedRuntime({
      store: `sqlite:${database}`,
      resolver: async () => model,
    });
    const definition = { name: 'asked', model: 'gemini-2.5-flash', tools: [deployTool] };
    const agent = await runtime.create(definition);
    await using first = new AnsweringProcess(database, 'first');
    await using second = new AnsweringProcess(database, 'second');
    assert.deepEqual([await first.line(), await second.line()], ['ready', 'ready']);
    for (let round = 0; round < rounds; round++) {
      const { id } = await runtime.startSession(agent.id, { userId: 'ada' });
      await runtime.sendEvent(id, userMessage('Deploy'));
      for await (const { type } of runtime.streamLog(id, 0)) if (type === 'turn.waiting') break;
      const [call] = await runtime.pending(id);
      const callId = call?.callId ?? '';
      const replies = await Promise.all([first.answer(id, callId), second.answer(id, callId)]);
      assert.deepEqual(replies.toSorted(), ['already_answered', 'won'], `round ${round}`);
      const winner = replies[0] === 'won' ? 'first' : 'second';
      const results: unknown[] = [];
      for await (const event of runtime.streamLog(id, 0)) {
        if (event.type === 'tool.result') results.push(event.response);
        if (event.type === 'turn.ended') break;
      }
      assert.deepEqual(results, [{ result: winner }], `round ${round}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
