import type { Agent } from '../../src/agents/index.ts';
import { conversation } from '../../src/agents/index.ts';
import { deriveInvocationId, contentText, userContent } from '../../src/core/index.ts';
import type { LogEntry } from '../../src/core/index.ts';
import {
  Driver,
  emptyMarking,
  Executor,
  listIn,
  SimulatedClock,
  valuesIn,
} from '../../src/net/index.ts';
import type { JournalRecord } from '../../src/net/index.ts';
import { toolParked } from '../../src/agents/vocabulary/tool-call.ts';

/** A session of an agent in memory, controlled by a test. */
export interface RunningAgent {
  readonly driver: Driver;
  readonly log: readonly LogEntry[];
  readonly records: readonly JournalRecord[];
  /** Sends a message and waits until its turn has ended or waits for a person. */
  readonly sendAndWait: (text: string) => Promise<readonly LogEntry[]>;
  readonly send: (text: string) => string;
  readonly answer: (callId: string, decision: 'approved' | 'denied') => void;
  readonly interrupt: (invocationId: string) => void;
  /** Waits until the log has `times` events of a type. Default: 1. */
  readonly until: (type: LogEntry['type'], times?: number) => Promise<void>;
  /** The names of the transitions that fired or started, in order. */
  readonly fired: () => readonly string[];
  readonly messages: () => readonly string[];
  readonly parked: (agentName?: string) => readonly string[];
}

/** Runs an agent's net on a journal in memory. */
export function runAgent(agent: Agent): RunningAgent {
  const clock = new SimulatedClock(0);
  const log: LogEntry[] = [];
  const records: JournalRecord[] = [];
  let waiting: (() => void)[] = [];
  const host = { sessionKey: { appName: 'app', userId: 'u', sessionId: 's' } };
  const driver = new Driver({
    executor: (onAbort) => {
      const executor = new Executor(agent.compiled, emptyMarking(), {
        toFiringId: String,
        onAbort,
        host,
      });
      executor.begin(clock.now());
      return executor;
    },
    clock,
    commit: async (step) => {
      records.push(...step.records);
      log.push(...step.outlets.map(({ value }) => value as unknown as LogEntry));
      return 'committed';
    },
    onCommitted: () => {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    onProgress: () => {},
    onRefused: () => {},
    onFailed: (error) => {
      throw error;
    },
    reload: async () => {
      throw new Error('no conflicts here');
    },
  });
  let messages = 0;
  const count = (type: LogEntry['type']): number =>
    log.filter((event) => event.type === type).length;
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const send = (text: string): string => {
    const messageId = `m${++messages}`;
    const invocationId = deriveInvocationId(messageId);
    driver.inject({
      place: 'user.in',
      value: { messageId, invocationId, content: userContent(text) },
    });
    return invocationId;
  };
  return {
    driver,
    log,
    records,
    send,
    sendAndWait: async (text) => {
      const from = log.length;
      const paused = count('turn.ended') + count('turn.waiting');
      send(text);
      await until(() => count('turn.ended') + count('turn.waiting') > paused);
      return log.slice(from);
    },
    answer: (callId, decision) =>
      driver.inject({ place: 'answer.in', value: { callId, decision } }),
    interrupt: (invocationId) => driver.inject({ place: 'interrupt.in', value: { invocationId } }),
    until: async (type, times = 1) => until(() => count(type) >= times),
    fired: () =>
      records.flatMap((record) =>
        't' in record && ['fired', 'started'].includes(record.kind) ? [record.t] : [],
      ),
    messages: () =>
      listIn(driver.executor.marking, conversation.name).items.map((item) => {
        const { author, content } = item as unknown as {
          readonly author?: string;
          readonly content: Parameters<typeof contentText>[0] & { readonly role: string };
        };
        return `${author ?? content.role}: ${contentText(content) || JSON.stringify(content.parts)}`;
      }),
    parked: (agentName) =>
      valuesIn(driver.executor.marking, {
        ...toolParked,
        name: agentName === undefined ? toolParked.name : `${agentName}/${toolParked.name}`,
      }).map(({ callId }) => callId),
  };
}
