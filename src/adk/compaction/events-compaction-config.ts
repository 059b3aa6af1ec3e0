import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import type { BaseEventsSummarizer } from './base-events-summarizer.ts';

/** When older events are shown to the models as a summary. The log keeps all of them. */
export interface EventsCompactionConfig {
  /** After so many invocations since the last summary. */
  readonly compactionInterval: number;
  /** So many invocations, the latest ones, stay word by word; 0 unless given. */
  readonly overlapSize?: number;
  /** Also when the conversation has so many tokens, by estimate. */
  readonly tokenThreshold?: number;
  /** Then so many events, the latest ones, stay word by word. Needed with `tokenThreshold`. */
  readonly eventRetentionSize?: number;
  /** Asks the root agent's model unless given. */
  readonly summarizer?: BaseEventsSummarizer;
}

/** What it may say. */
export const EVENTS_COMPACTION_NAMES: OptionNames<EventsCompactionConfig> = {
  compactionInterval: true,
  overlapSize: true,
  tokenThreshold: true,
  eventRetentionSize: true,
  summarizer: true,
};

/** @throws InvalidInputError naming the field */
export function checkEventsCompaction(config: EventsCompactionConfig): void {
  const { compactionInterval, overlapSize = 0, tokenThreshold, eventRetentionSize } = config;
  checkWhole('compactionInterval', compactionInterval, 1);
  checkWhole('overlapSize', overlapSize, 0);
  if ((tokenThreshold === undefined) !== (eventRetentionSize === undefined))
    throw new InvalidInputError(
      'eventsCompactionConfig.tokenThreshold',
      'and eventRetentionSize go together: give both or none.',
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
