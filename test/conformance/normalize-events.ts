import type { Json, JsonObject } from '../../src/core/index.ts';

/** Members with different values in each run, and the prefix of their normalized values. */
const NAMED: Readonly<Record<string, string>> = {
  tool_use_id: 'call',
  custom_tool_use_id: 'call',
  callId: 'call',
  callIds: 'call',
  id: 'call',
  invocationId: 'turn',
  messageId: 'message',
  fingerprint: 'fingerprint',
  outcomeId: 'outcome',
};

/** Members that differ in each run or do not concern a client. */
const DROPPED = new Set(['at', 'providerId', 'durationMs']);

/** Replaces ids by numbers in the order of their first appearance, so that two runs can be compared. */
export function normalizeEvents(events: readonly unknown[]): readonly JsonObject[] {
  const names = new Map<string, string>();
  const toName = (word: string, value: string): string => {
    const counted = [...names.values()].filter((name) => name.startsWith(`$${word}`)).length;
    const name = names.get(value) ?? `$${word}${counted + 1}`;
    names.set(value, name);
    return name;
  };
  const walk = (value: Json, word?: string): Json => {
    if (typeof value === 'string') return word === undefined ? value : toName(word, value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, word));
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !DROPPED.has(key))
        .map(([key, member]) => [key, walk(member, NAMED[key])]),
    );
  };
  return events.map((event) => walk(JSON.parse(JSON.stringify(event))) as JsonObject);
}
