import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import type { BaseEventsSummarizer } from './base-events-summarizer.ts';

/** When older events are replaced with a summary for the models. The log keeps all events. */
export interface EventsCompactionConfig {
  /** Number of invocations since the last summary after which the next summary is made. */
  readonly compactionInterval: number;
  /** Number of newest invocations that are kept verbatim. Default: 0. */
  readonly overlapSize?: number;
  /** Also summarize when the conversation has this many estimated tokens. */
  readonly tokenThreshold?: number;
  /** Number of newest events kept verbatim when `tokenThreshold` is reached. Required with `tokenThreshold`. */
  readonly eventRetentionSize?: number;
  /** Default: an `LlmEventsSummarizer` with the root agent's model. */
  readonly summarizer?: BaseEventsSummarizer;
}

/** The option names of `EventsCompactionConfig`. */
export const EVENTS_COMPACTION_NAMES: OptionNames<EventsCompactionConfig> = {
  compactionInterval: true,
  overlapSize: true,
  tokenThreshold: true,
  eventRetentionSize: true,
  summarizer: true,
};

/** @throws InvalidInputError naming the invalid field */
export function checkEventsCompaction(config: EventsCompactionConfig): void {
  const { compactionInterval, overlapSize = 0, tokenThreshold, eventRetentionSize } = config;
  checkWhole('compactionInterval', compactionInterval, 1);
  checkWhole('overlapSize', overlapSize, 0);
  if ((tokenThreshold === undefined) !== (eventRetentionSize === undefined))
    throw new InvalidInputError(
      'eventsCompactionConfig.tokenThreshold',
      'and eventRetentionSize must be set together: set both or neither.',
    );
  if (tokenThreshold !== undefined) checkWhole('tokenThreshold', tokenThreshold, 1);
  if (eventRetentionSize !== undefined) checkWhole('eventRetentionSize', eventRetentionSize, 0);
}

function checkWhole(field: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new InvalidInputError(
    `eventsCompactionConfig.${field}`,
    `must be a whole number of at least ${least}; it is ${value}.`,
  );
}
