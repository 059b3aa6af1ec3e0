import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { agent, openRuntime, tool } from '../src/index.ts';
import type { Content, Model } from '../src/index.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import { median } from './statistics.ts';

export interface Abort {
  /** From `interrupt()` to the turn's end, while a tool runs that never looks at its signal. */
  readonly ms: number;
  /** Calls without a result in what the model is shown next; 0 is the only right answer. */
  readonly danglingCalls: number;
}

/** Interrupts turns on SQLite whose tool will not stop, and looks at the next prompt. */
export async function measureAbort({ quick }: { readonly quick: boolean }): Promise<Abort> {
  return withTemporaryFolder(async (folder) => {
    let started = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const prompts: (readonly Content[])[] = [];
    const deaf = tool({
      name: 'deaf',
      description: 'Takes its time',
      execute: async () => {
        started.resolve();
        await released.promise;
      },
    });
    await using runtime = await openRuntime({
      agents: [agent({ name: 'assistant', model: caller(prompts), tools: [deaf] })],
      store: `sqlite:${join(folder, 'store.db')}`,
    });
    const times: number[] = [];
    for (let round = 0; round < (quick ? 1 : 15); round++) {
      started = Promise.withResolvers<void>();
      const session = await runtime.session(`session-${round}`);
      const turn = session.send('Call it twice.');
      await started.promise;
      const startedAt = performance.now();
      await session.interrupt();
      let stopped = false;
      for await (const event of turn) {
        if (event.type === 'turn.ended') stopped = event.stopReason === 'interrupted';
      }
      times.push(performance.now() - startedAt);
      if (!stopped) throw new Error('The turn was not interrupted.');
      for await (const event of session.send('Thank you.')) void event;
    }
    released.resolve();
    const dangling = prompts.map((contents) => danglingIn(contents));
    return { ms: median(times), danglingCalls: Math.max(...dangling) };
  });
}

/** Calls the tool twice when it is asked to, and else says something. Keeps what it was shown. */
function caller(prompts: (readonly Content[])[]): Model {
  const call = { functionCall: { id: '', name: 'deaf', args: {} } };
  return {
    name: 'caller',
    generate: async ({ contents }) => {
      prompts.push(contents);
      const last = contents.at(-1)?.parts[0];
      return last !== undefined && 'text' in last && last.text === 'Call it twice.'
        ? { content: { role: 'model', parts: [call, call] }, finishReason: 'tool_calls' }
        : { content: { role: 'model', parts: [{ text: 'Gladly.' }] }, finishReason: 'stop' };
    },
  };
}

function danglingIn(contents: readonly Content[]): number {
  const parts = contents.flatMap((content) => content.parts);
  const called = parts.flatMap((part) => ('functionCall' in part ? [part.functionCall.id] : []));
  const answered = parts.map((part) =>
    'functionResponse' in part ? part.functionResponse.id : '',
  );
  return called.filter((id) => !answered.includes(id)).length;
}
