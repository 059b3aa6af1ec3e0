import { omitUndefined } from '../../core/internal.ts';
import { PetrichorError } from '../../core/index.ts';
import { ApiError, createClient, type Client, type StreamedEvent } from '../../client/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import type { ExitCode } from '../command/exit-code.ts';
import { LineReader } from '../terminal/line-reader.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { RemoteChat } from '../chat/remote-chat.ts';
import { RemoteView } from '../chat/remote-view.ts';
import { Screen } from '../terminal/screen.ts';
import { formatShellCommand } from '../command/shell-command.ts';
import { UsageError } from '../command/usage-error.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';

const options = {
  agent: {
    type: 'string',
    value: 'ID',
    summary: 'The agent to chat with, if the server has several',
  },
  session: { type: 'string', value: 'ID', summary: 'Resume this session' },
  key: { type: 'string', value: 'KEY', summary: 'The API key. Default: PETRICHOR_API_KEY' },
} as const;

type ChatCall = CommandCall<typeof options>;

/** The command that chats with an agent of a server. */
export const chatCommand: Command = defineCommand({
  name: 'chat',
  operands: ['[URL]'],
  summary: 'Chat with an agent of a server',
  description: [
    `URL is the address of petrichor serve. Default: ${DEFAULT_URL}. Ctrl-C stops the turn; again, or at the prompt,`,
    'it leaves. Without a terminal, each line of the input is a message or the answer to the waiting call. A lost',
    'connection is reopened, and the chat continues where it was.',
  ].join('\n'),
  options,
  run: async (call) => {
    const { operands, values, env } = call;
    const url = operands[0] ?? DEFAULT_URL;
    if (!URL.canParse(url)) throw new UsageError(`"${url}" is not a URL.`, 'chat');
    const apiKey = values.key ?? env['PETRICHOR_API_KEY'];
    const client = createClient({ baseUrl: url, ...omitUndefined({ apiKey }) });
    try {
      const sessionId = values.session ?? (await createSession(client, values.agent));
      return await runRemoteChat(call, { client, sessionId, url });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new KeyRefusedError(apiKey !== undefined, error);
    }
  },
});

/**
 * A server rejects requests without a valid key.
 * @remedy Pass a valid key with `--key` or `PETRICHOR_API_KEY`. `petrichor keys create` creates one.
 */
class KeyRefusedError extends PetrichorError {
  override readonly code = 'key_refused' as const;

  constructor(hadKey: boolean, cause: ApiError) {
    const problem = hadKey ? 'The server rejected this key' : 'The server needs a key';
    super(
      `${problem}: pass a valid one with --key KEY or PETRICHOR_API_KEY. petrichor keys create creates one.`,
      { cause },
    );
  }
}

async function createSession(client: Client, agentId: string | undefined): Promise<string> {
  const agent = agentId ?? (await findOnlyAgent(client));
  const { id } = await client.sessions.create({ agent });
  return id;
}

async function findOnlyAgent(client: Client): Promise<string> {
  const found: string[] = [];
  for await (const { id } of client.agents.list({ limit: 100 })) found.push(id);
  const [only, ...others] = found;
  if (only === undefined)
    throw new UsageError(
      'The server has no agent yet: create one, or serve one with petrichor serve FILE.',
      'chat',
    );
  if (others.length > 0)
    throw new UsageError(`Choose an agent with --agent ID: ${found.join(', ')}.`, 'chat');
  return only;
}

async function runRemoteChat(
  call: ChatCall,
  {
    client,
    sessionId,
    url,
  }: { readonly client: Client; readonly sessionId: string; readonly url: string },
): Promise<ExitCode> {
  const { values, stdin, stdout, env, clock, signals } = call;
  const interactive = !values.json && stdin.isTTY === true && stdout.isTTY === true;
  const paint = createPaint(stdout, env);
  const screen = new Screen({ output: stdout, paint, clock });
  const mode = interactive ? 'terminal' : values.json ? 'silent' : 'transcript';
  const reader: LineReader = new LineReader({
    input: stdin,
    output: stdout,
    mode,
    onInterrupt: () => chat.interrupt(),
  });
  const view = new RemoteView(screen, (event) => chat.isLocalEvent(event));
  const show = (event: StreamedEvent): void => {
    if (values.json) stdout.write(`${JSON.stringify(event)}\n`);
    else view.show(event);
  };
  const notice = (text: string): void => {
    if (!values.json) screen.line(paint('dim', printable(text)));
  };
  const prompt = (text: string): string => {
    screen.endLine();
    return paint(text.startsWith('›') ? 'cyan' : 'yellow', text);
  };
  const chat = new RemoteChat({ client, sessionId, reader, interactive, show, notice, prompt });
  const listeners: readonly (readonly [Signal, () => void])[] = [
    ['SIGINT', () => chat.interrupt('SIGINT')],
    ['SIGTERM', () => chat.leave('SIGTERM')],
    ['SIGHUP', () => chat.leave('SIGHUP')],
  ];
  for (const [signal, listener] of listeners) signals.on(signal, listener);
  notice(`session ${sessionId} · ${url}`);
  try {
    return await chat.run();
  } finally {
    for (const [signal, listener] of listeners) signals.off(signal, listener);
    reader.close();
    notice(
      `Resume with: ${formatShellCommand(['petrichor', 'chat', url, '--session', sessionId])}`,
    );
  }
}
