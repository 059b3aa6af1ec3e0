import { contentText } from '../../../src/core/index.ts';
import type { LogEvent } from '../../../src/core/index.ts';
import type { Model } from '../../../src/models/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { obedientModel, releasedTools } from '../released-agents.ts';

/** Opens a copy of a fixture. It is closed and removed after the test. */
export type OpenFixture = (fixture: 'plain' | 'managed' | 'adk' | 'generators') => Promise<Store>;

/** A test of a session stored by the released version, in any store. */
export interface ReleasedCase {
  readonly name: string;
  readonly check: (open: OpenFixture) => Promise<void>;
}

/** The model of these sessions, no longer overloaded. */
export const model: Model = obedientModel(() => false);

/** The tools of these sessions, and the names of those that ran. */
export function countedTools(): {
  readonly ran: string[];
  readonly tools: ReturnType<typeof releasedTools>;
} {
  const ran: string[] = [];
  const tools = releasedTools(async (name) => {
    ran.push(name);
    return `${name} is done`;
  });
  return { ran, tools };
}

/** Reads a log up to the `times`th event of a type, or to its end. */
export async function readUntil(
  events: AsyncIterable<unknown>,
  type: LogEvent['type'],
  times = 1,
): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  let seen = 0;
  for await (const event of events as AsyncIterable<LogEvent>) {
    if (!('seq' in event)) continue;
    log.push(event);
    if (event.type === type && ++seen === times) break;
  }
  return log;
}

export function toolOutcomes(log: readonly LogEvent[]): readonly string[] {
  return log
    .flatMap((event) => (event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : []))
    .toSorted();
}

export function lastMessage(log: readonly LogEvent[]): string {
  const lastAgentMessage = log.findLast((event) => event.type === 'agent.message');
  return lastAgentMessage?.type === 'agent.message' ? contentText(lastAgentMessage.content) : '';
}
