import { newSessionId, parseSessionKey, type SessionKey } from '../../core/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import { openStore, type Store } from '../../store/index.ts';
import { describeStoreUrl } from '../../store/internal.ts';
import { Chat } from '../chat/chat.ts';
import type { ChatView } from '../chat/chat-view.ts';
import type { Signal } from '../command/cli-context.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import type { ExitCode } from '../command/exit-code.ts';
import { createJsonView } from '../chat/json-view.ts';
import { LineReader } from '../terminal/line-reader.ts';
import { loadAgentSource, type LoadedAgent } from '../loading/load-agent.ts';
import { createPaint } from '../terminal/paint.ts';
import { Screen } from '../terminal/screen.ts';
import { formatShellCommand } from '../command/shell-command.ts';
import {
  agentOption,
  appOption,
  DEFAULT_APP,
  DEFAULT_STORE,
  DEFAULT_USER,
  storeOption,
  userOption,
} from '../command/shared-options.ts';
import { TextView } from '../chat/text-view.ts';

const options = {
  session: {
    type: 'string',
    value: 'ID',
    summary: 'Resume this session, or start a new one with this id',
  },
  agent: agentOption,
  store: storeOption,
  user: userOption,
  app: appOption,
} as const;

const RECENT_SESSIONS = 50;

/** The command that chats with an agent. */
export const runCommand: Command = defineCommand({
  name: 'run',
  operands: ['AGENT_MODULE'],
  summary: 'Chat with an agent, in a new or a resumed session',
  description: [
    'AGENT_MODULE is a .ts or .js file that exports what agent({ … }) returns, or an ADK App or agent, by default or by name.',
    'Every firing is saved in the store. End the program at any time, even with kill -9: the same command with',
    '--session resumes the session, first with the calls that wait for you.',
    '',
    'Ctrl-C stops the turn; again, or at the prompt, it leaves. /help lists the chat commands.',
    'Without a terminal, each line of the input is a message, or the answer (y, n, n REASON) to the waiting call.',
    'The program ends with the input, with 1 if a turn failed. Unanswered calls keep waiting.',
  ].join('\n'),
  options,
  run: runChat,
});

async function runChat(call: CommandCall<typeof options>): Promise<ExitCode> {
  const { values, cwd, operands } = call;
  const [file = ''] = operands;
  const agent = await loadAgentSource({ file, cwd, name: values.agent });
  const store = await openStore(values.store ?? DEFAULT_STORE);
  try {
    return await runChatWithStore(store, agent, call);
  } finally {
    await store.close();
  }
}

async function runChatWithStore(
  store: Store,
  agent: LoadedAgent,
  call: CommandCall<typeof options>,
): Promise<ExitCode> {
  const { values, clock } = call;
  const id = values.session ?? newSessionId().slice(0, 8);
  const user = values.user ?? DEFAULT_USER;
  const app = values.app ?? DEFAULT_APP;
  const key = parseSessionKey({ appName: app, userId: user, sessionId: id });
  const found = await store.find(key);
  const view = createView(call, store, id);
  await using runtime = await openRuntime({
    agents: [agent.source],
    store,
    app,
    clock,
    onError: (error, at) => {
      if (at?.sessionId === id) view.problem(error);
    },
  });
  const open = async () => runtime.session(id, { user, agent: agent.name });
  // Before anything is shown: the session may belong to another agent, which is an error.
  if (found !== undefined) await open();
  view.opened({
    session: id,
    user,
    agent: agent.name,
    store: describeStoreUrl(values.store ?? DEFAULT_STORE),
    found,
    unfinished: values.session === undefined ? await listUnfinished(store, key, agent) : [],
  });
  return await runChatLoop(call, { view, open, resumed: found !== undefined });
}

/** Unfinished sessions of this user and agent, for a user who chose no session. */
async function listUnfinished(
  store: Store,
  key: SessionKey,
  agent: LoadedAgent,
): Promise<readonly string[]> {
  const { appName, userId } = key;
  const rows = await store.list({
    appName,
    userId,
    agent: agent.name,
    parent: null,
    limit: RECENT_SESSIONS,
  });
  return rows.filter(({ activity }) => activity !== 'idle').map((row) => row.key.sessionId);
}

async function runChatLoop(
  call: CommandCall<typeof options>,
  { view, open, resumed }: Pick<ConstructorParameters<typeof Chat>[0], 'view' | 'open' | 'resumed'>,
): Promise<ExitCode> {
  const { stdin, stdout, signals } = call;
  const interactive = isInteractive(call);
  const reader: LineReader = new LineReader({
    input: stdin,
    output: stdout,
    mode: interactive ? 'terminal' : call.values.json ? 'silent' : 'transcript',
    onInterrupt: () => chat.interrupt(),
  });
  const chat = new Chat({ view, reader, interactive, open, resumed });
  const onInterrupt = (): void => chat.interrupt('SIGINT');
  const onTerminate = (): void => chat.leave('SIGTERM');
  const onHangup = (): void => chat.leave('SIGHUP');
  const listeners: readonly (readonly [Signal, () => void])[] = [
    ['SIGINT', onInterrupt],
    ['SIGTERM', onTerminate],
    ['SIGHUP', onHangup],
  ];
  for (const [signal, listener] of listeners) signals.on(signal, listener);
  try {
    return await chat.run();
  } finally {
    // From here on, a signal ends the program at once.
    for (const [signal, listener] of listeners) signals.off(signal, listener);
    reader.close();
  }
}

function isInteractive({ values, stdin, stdout }: CommandCall<typeof options>): boolean {
  return !values.json && stdin.isTTY === true && stdout.isTTY === true;
}

function createView(call: CommandCall<typeof options>, store: Store, session: string): ChatView {
  const { values, written, stdout, env, clock, operands } = call;
  if (values.json) return createJsonView(stdout);
  return new TextView({
    screen: new Screen({ output: stdout, paint: createPaint(stdout, env), clock }),
    now: clock.now,
    hint: isInteractive(call) ? '/help lists the commands, Ctrl-D leaves' : '',
    resumeCommand:
      store.durability === 'process'
        ? undefined
        : formatShellCommand([
            'petrichor',
            'run',
            ...operands,
            '--session',
            session,
            ...(['agent', 'store', 'app', 'user'] as const).flatMap((name) => {
              const value = written[name];
              if (typeof value !== 'string') return [];
              return [`--${name}`, name === 'store' ? describeStoreUrl(value) : value];
            }),
          ]),
  });
}
