import type { ChatView } from './chat-view.ts';
import type { OutputStream } from '../command/cli-context.ts';
import { toFailureJson } from '../command/failure-json.ts';

/** Shows a chat to a program: one JSON object per line. Log events are written unchanged. */
export function createJsonView(output: OutputStream): ChatView {
  const write = (value: object): void => {
    output.write(`${JSON.stringify(value)}\n`);
  };
  return {
    opened: ({ found, ...facts }) =>
      write({ type: 'opened', ...facts, resumed: found !== undefined }),
    show: write,
    typed: () => {},
    promptForCall: () => '',
    prompt: () => '',
    notice: () => {},
    list: () => {},
    problem: (error) => write(toFailureJson(error)),
    ended: ({ reason: why, row }) =>
      write({
        type: 'left',
        why,
        status: row?.status ?? null,
        pending: row?.pending ?? [],
        lastSeq: row?.lastSeq ?? 0,
      }),
  };
}
