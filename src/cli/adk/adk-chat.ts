import { dirname, resolve } from 'node:path';
import {
  DatabaseSessionService,
  getFunctionCalls,
  getPendingUserInputRequests,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  Runner,
} from '../../adk/index.ts';
import type { Session, SessionService, UserInputRequest } from '../../adk/index.ts';
import { contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import type { CommandCall } from '../command/command.ts';
import type { CliContext } from '../command/cli-context.ts';
import { EXIT_FAILURE, EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { LineReader } from '../terminal/line-reader.ts';
import { printable } from '../terminal/printable.ts';
import { findAgentFile } from './agent-file.ts';
import { toStoreUrl } from './adk-flags.ts';
import type { adkRunOptions } from './adk-run-options.ts';
import { copyApp } from './copy-app.ts';
import { splitOpenTurn } from './open-turn.ts';
import type { OpenTurn } from './open-turn.ts';
import { RecordedTurnPlugin } from './recorded-turn-plugin.ts';
import { loadRootAgent } from './root-agent.ts';
import type { RootAgent } from './root-agent.ts';
import { readReplayFile, readSavedSession, writeSession } from './session-file.ts';

type RunCall = CommandCall<typeof adkRunOptions>;

/** The user of all sessions of `adk run`, as in ADK. */
const USER = 'test_user';

/**
 * Chats with the agent that a module exports as `rootAgent`, as `adk run` of ADK does.
 * @throws UsageError, AgentModuleError
 */
export async function runAdkAgent(call: RunCall): Promise<ExitCode> {
  const { values, cwd } = call;
  const [operand = ''] = call.operands;
  const { resume, replay } = values;
  if (resume !== undefined && replay !== undefined)
    throw new UsageError('Use --resume or --replay, not both.', 'adk');
  checkSessionId(values.session_id);
  const file = findAgentFile(operand, cwd);
  const root = await loadRootAgent(file, cwd);
  const replayed = replay === undefined ? undefined : await readReplayFile(replay, cwd);
  const resumed = resume === undefined ? undefined : await readSavedSession(resume, cwd);
  const { ended = [], open } = resumed === undefined ? {} : splitOpenTurn(resumed.events);
  await using chat = await AdkChat.open(call, root, (replayed ?? resumed)?.state, open);
  let code: ExitCode = EXIT_OK;
  if (replayed !== undefined) code = await chat.replay(replayed.queries);
  else {
    if (resumed !== undefined) await chat.restore(ended, open);
    else chat.print(`Running agent ${root.name}, type exit to exit.`);
    code = await chat.converse();
  }
  if (values.save_session) await chat.save(dirname(resolve(cwd, file)), values.session_id);
  return code;
}

/** The conversation of one run of the program. */
class AdkChat implements AsyncDisposable {
  readonly #context: CliContext;
  readonly #runner: Runner;
  readonly #service: SessionService;
  readonly #session: Session;
  readonly #recorded: RecordedTurnPlugin | undefined;
  readonly #reader: LineReader;
  readonly #stop: AbortController;

  private constructor(
    context: CliContext,
    parts: {
      readonly runner: Runner;
      readonly service: SessionService;
      readonly session: Session;
      readonly recorded: RecordedTurnPlugin | undefined;
    },
  ) {
    this.#context = context;
    this.#runner = parts.runner;
    this.#service = parts.service;
    this.#session = parts.session;
    this.#recorded = parts.recorded;
    this.#stop = new AbortController();
    const { stdin, stdout } = context;
    const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
    this.#reader = new LineReader({
      input: stdin,
      output: stdout,
      mode: isTerminal ? 'terminal' : 'transcript',
      onInterrupt: this.#interrupt,
    });
    context.signals.on('SIGINT', this.#interrupt);
    context.signals.on('SIGTERM', this.#interrupt);
  }

  static async open(
    call: RunCall,
    root: RootAgent,
    state: Session['state'] = {},
    open?: OpenTurn,
  ): Promise<AdkChat> {
    const uri = call.values.session_service_uri;
    const url = uri === undefined ? 'memory:' : toStoreUrl(uri);
    const service =
      url === 'memory:' ? new InMemorySessionService() : new DatabaseSessionService(url);
    const recorded = open === undefined ? undefined : new RecordedTurnPlugin(open);
    const runner = new Runner({
      app:
        recorded === undefined
          ? root.app
          : copyApp(root.app, { plugins: [recorded, ...root.app.plugins] }),
      sessionService: service,
      artifactService: new InMemoryArtifactService(),
      memoryService: new InMemoryMemoryService(),
      env: call.env,
      clock: call.clock,
    });
    const session = await service.createSession({ appName: root.name, userId: USER, state });
    return new AdkChat(call, { runner, service, session, recorded });
  }

  print(text: string): void {
    this.#context.stdout.write(`${printable(text)}\n`);
  }

  /** Sends the messages in their order. Fails if a turn fails, or waits for an answer at the end. */
  async replay(queries: readonly string[]): Promise<ExitCode> {
    let code: ExitCode = EXIT_OK;
    for (const query of queries) {
      this.print(`[user]: ${query}`);
      if (!(await this.#send(query))) code = EXIT_FAILURE;
    }
    if ((await this.#listRequests()).length === 0) return code;
    this.#context.stderr.write(
      'The run ended while it waits for an answer. Add the answer to the queries of the file.\n',
    );
    return EXIT_FAILURE;
  }

  /** Appends the events of a saved session, and shows them. A turn that waited runs again up to the calls that wait. */
  async restore(ended: readonly Event[], open: OpenTurn | undefined): Promise<void> {
    for (const event of ended) {
      this.#show(event);
      if (!isRequestToUser(event))
        await this.#service.appendEvent({ session: this.#session, event });
    }
    if (open !== undefined) {
      this.print(`[user]: ${contentText(open.message)}`);
      await this.#run(open.message);
      this.#recorded?.end();
    }
    if (getPendingUserInputRequests(ended).length > 0)
      this.print('A call that waited in an earlier turn is not continued. Send a message.');
  }

  /** Reads messages until `exit`, the end of the input or a signal. */
  async converse(): Promise<ExitCode> {
    let code: ExitCode = EXIT_OK;
    for (;;) {
      const line = this.#stop.signal.aborted ? undefined : await this.#reader.read('[user]: ');
      if (line === undefined || line.trim() === 'exit') return code;
      if (line.trim() === '') continue;
      if (!(await this.#send(line))) code = EXIT_FAILURE;
    }
  }

  /** Saves the session in a folder. Without an id, the user is asked for one. */
  async save(folder: string, id: string | undefined): Promise<void> {
    const name = id ?? (await this.#reader.read('Session ID to save: '))?.trim();
    checkSessionId(name);
    if (name === undefined)
      throw new UsageError(
        '--save_session needs --session_id, because the input has ended.',
        'adk',
      );
    const path = await writeSession(await this.#read(), folder, name);
    this.print(`Session saved to ${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#context.signals.off('SIGINT', this.#interrupt);
    this.#context.signals.off('SIGTERM', this.#interrupt);
    this.#reader.close();
    await this.#runner.close();
    await this.#service.close();
  }

  readonly #interrupt = (): void => {
    this.#stop.abort();
    this.#reader.close();
  };

  /** Sends a message, or an answer to the first call that waits. False if the turn failed. */
  async #send(text: string): Promise<boolean> {
    return this.#run(toMessage(text, await this.#listRequests()));
  }

  /** Runs a turn and shows its events. False if it failed. */
  async #run(newMessage: Content): Promise<boolean> {
    const { userId, id: sessionId } = this.#session;
    let succeeded = true;
    try {
      const abortSignal = this.#stop.signal;
      const events = this.#runner.runAsync({ userId, sessionId, newMessage, abortSignal });
      for await (const event of events) {
        if (event.partial === true) continue;
        if (event.errorCode !== undefined) succeeded = false;
        this.#show(event);
      }
      this.#showRequests(await this.#listRequests());
    } catch (error) {
      succeeded = false;
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.stderr.write(`Turn failed: ${printable(reason)}\n`);
    }
    return succeeded;
  }

  #show({ author, content, output, errorCode, errorMessage }: Event): void {
    const text = contentText(content);
    if (text !== '') this.print(`[${author}]: ${text}`);
    else if (output !== undefined)
      this.print(`[${author}]: ${typeof output === 'string' ? output : JSON.stringify(output)}`);
    if (errorCode === undefined && errorMessage === undefined) return;
    const reason = [errorCode, errorMessage].filter(Boolean).join(': ');
    this.#context.stderr.write(`[${author}] error: ${printable(reason)}\n`);
  }

  #showRequests(requests: readonly UserInputRequest[]): void {
    for (const { kind, author = 'agent', toolName, message, args } of requests) {
      this.print(`--- [${author}] waits for ${WAITS[kind]} ---`);
      if (toolName !== undefined) this.print(`Tool: ${toolName} ${JSON.stringify(args ?? {})}`);
      if (message !== undefined) this.print(message);
      this.print(HOW_TO_ANSWER[kind]);
    }
  }

  async #listRequests(): Promise<readonly UserInputRequest[]> {
    return getPendingUserInputRequests((await this.#read()).events);
  }

  async #read(): Promise<Session> {
    const { appName, userId, id: sessionId } = this.#session;
    const session = await this.#service.getSession({ appName, userId, sessionId });
    return session ?? this.#session;
  }
}

const WAITS: Readonly<Record<UserInputRequest['kind'], string>> = {
  confirmation: 'confirmation',
  credential: 'a credential',
  input: 'your input',
};

const HOW_TO_ANSWER: Readonly<Record<UserInputRequest['kind'], string>> = {
  confirmation: "Reply 'yes' to approve or 'no' to reject.",
  credential:
    'The terminal does not take credentials: answer in a program, or in petrichor adk web.',
  input: 'Type your reply at the next prompt to continue.',
};

/** True for an event with which a call asks the user. The model does not see it, and its call is not continued. */
function isRequestToUser(event: Event): boolean {
  return getFunctionCalls(event).some(({ name }) => name.startsWith('adk_request_'));
}

/** A message, or the answer to the first request that waits. */
function toMessage(text: string, [request]: readonly UserInputRequest[]): Content {
  const answer = text.trim().toLowerCase();
  const response =
    request?.kind === 'input'
      ? { result: text }
      : request?.kind === 'confirmation' && /^(?:y|yes|n|no)$/.test(answer)
        ? { confirmed: answer.startsWith('y') }
        : undefined;
  if (request === undefined || response === undefined) return { role: 'user', parts: [{ text }] };
  const { interruptId: id, functionCallName: name } = request;
  return { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
}

/** @throws UsageError if the id cannot be a part of a file name */
function checkSessionId(id: string | undefined): void {
  if (id === undefined || /^[\w.-]+$/.test(id)) return;
  throw new UsageError('--session_id must have letters, digits, ".", "_" and "-" only.', 'adk');
}
