import { createHmac, randomBytes } from 'node:crypto';
import { isJsonObject } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';

/** Replaces the values of one exported journal. Equal texts have equal hashes in it, and in no other export. */
export interface JournalRedactor {
  /** @param record a record as it is stored */
  readonly record: (record: JsonObject) => JsonObject;
  readonly event: (event: JsonObject) => JsonObject;
  readonly session: (session: JsonObject) => JsonObject;
}

/** What a member becomes. A member without a rule is left out of a record, and hidden elsewhere. */
type Rule = (value: Json, redactor: Redactor) => Json;

const keep: Rule = (value) => value;
const hide: Rule = (value, redactor) => redactor.hide(value);

/** The rules of members that stay. @param names separated by spaces */
function keepAll(...names: readonly string[]): Readonly<Record<string, Rule>> {
  return Object.fromEntries(names.flatMap((some) => some.split(' ')).map((name) => [name, keep]));
}

/** Keeps these members of an object, and hides the others. */
function keepOnly(...names: readonly string[]): Rule {
  const rules = keepAll(...names);
  return (value, redactor) =>
    isJsonObject(value) ? redactor.apply(value, rules, hide) : redactor.hide(value);
}

/** Applies a rule to each member of an object, and keeps its keys. */
const toMembers =
  (by: Rule): Rule =>
  (value, redactor) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, by(one, redactor)]))
      : redactor.hide(value);

const hideDeposits: Rule = (value, redactor) =>
  (Array.isArray(value) ? value : []).map((deposit) =>
    Array.isArray(deposit)
      ? deposit.map((part, index) => (index === 1 ? redactor.hide(part) : part))
      : redactor.hide(deposit),
  );

const toItems =
  (rule: Rule): Rule =>
  (value, redactor) =>
    Array.isArray(value) ? value.map((one) => rule(one, redactor)) : redactor.hide(value);

const RECORD: Readonly<Record<string, Rule>> = {
  ...keepAll(
    'seq at kind t take reset aborted pin timeoutAt firing outcome dueAt attempt',
    'cause from to moved clocks owner epoch place versions net',
  ),
  key: hide,
  reason: hide,
  error: keepOnly('code'),
  give: hideDeposits,
  lists: toItems(keepOnly('place', 'keepLast', 'dropLast')),
  maps: toItems((value, redactor) =>
    redactor.apply(value, {
      place: keep,
      replace: keep,
      delete: keep,
      set: toMembers(hide),
      append: toMembers(hide),
      // Amounts are added, so they stay numbers.
      increment: toMembers(() => 0),
    }),
  ),
  entries: toMembers(hide),
};

const EVENT: Readonly<Record<string, Rule>> = {
  ...keepAll(
    'id type seq processed_at name is_error evaluated_permission tool_use_id',
    'mcp_tool_use_id custom_tool_use_id session_thread_id stop_reason model_usage',
  ),
  result: (value, redactor) =>
    value === 'allow' || value === 'deny' ? value : redactor.hide(value),
  content: toItems(keepOnly('type')),
  error: keepOnly('type'),
};

const SESSION: Readonly<Record<string, Rule>> = {
  ...keepAll(
    'id type status state pending_count waiting_for forked_from paused usage stats',
    'budget last_seq created_at updated_at archived_at',
  ),
  agent: keepOnly('type', 'id', 'name', 'version'),
};

/**
 * Creates a redactor for one export. Texts become their lengths and a hash, numbers 0, and boolean values false. Names
 * stay: of places, transitions, tools, fields and keys of state. So do times and numbers of tokens.
 */
export function createJournalRedactor(): JournalRedactor {
  const redactor = new Redactor();
  return {
    record: (record) => redactor.apply(record, RECORD),
    event: (event) => redactor.apply(event, EVENT, hide),
    session: (session) => redactor.apply(session, SESSION, hide),
  };
}

class Redactor {
  // A hash without a key could be looked up in a list of likely texts.
  readonly #key = randomBytes(32);

  /** @param others the rule of members without one. Without it, they are left out. */
  apply(value: Json, rules: Readonly<Record<string, Rule>>, others?: Rule): JsonObject {
    const members = isJsonObject(value) ? Object.entries(value) : [];
    return Object.fromEntries(
      members.flatMap(([name, one]) => {
        const rule = (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? others;
        return rule === undefined ? [] : [[name, rule(one, this)]];
      }),
    );
  }

  hide(value: Json): Json {
    if (Array.isArray(value)) return value.map((one: Json) => this.hide(one));
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.hide(one)]));
    if (typeof value === 'string') return `text(${value.length}) #${this.#hash(value)}`;
    if (typeof value === 'number') return 0;
    return value === null ? null : false;
  }

  #hash(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 8);
  }
}
