import { createHmac, randomBytes } from 'node:crypto';
import { formatStateKey, parseStateKey } from '../../core/index.ts';
import { isJsonObject, readOwn } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { declared, findItems, findMember, findOthers } from './declared-keys.ts';
import type { Schemas } from './declared-keys.ts';

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

/** Applies a rule to each entry of a state, and hides its keys. */
const toEntries =
  (by: Rule): Rule =>
  (value, redactor) =>
    isJsonObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, one]) => [
            redactor.hideStateKey(key),
            by(one, redactor),
          ]),
        )
      : redactor.hide(value);

const hideStateKeys: Rule = (value, redactor) =>
  (Array.isArray(value) ? value : []).map((key: Json) =>
    typeof key === 'string' ? redactor.hideStateKey(key) : redactor.hide(key),
  );

/** A deposit is `[place, value]`: the place declares the keys of the value. */
const hideDeposits: Rule = (value, redactor) =>
  (Array.isArray(value) ? value : []).map((deposit) => {
    if (!Array.isArray(deposit)) return redactor.hide(deposit);
    const [place = null, ...rest] = deposit;
    const schemas = redactor.findSchemas(place);
    return [
      place,
      ...rest.map((part, index) => (index === 0 ? redactor.hide(part, schemas) : part)),
    ];
  });

/** A change of a list place, whose items have the keys that the place declares. */
const hideListChange: Rule = (value, redactor) => {
  const schemas = redactor.findSchemas(isJsonObject(value) ? (value['place'] ?? null) : null);
  const hideItems: Rule = (items) => redactor.hide(items, [{ items: { anyOf: [...schemas] } }]);
  return redactor.apply(value, {
    ...keepAll('place keepLast dropLast'),
    append: hideItems,
    prefix: hideItems,
  });
};

const toItems =
  (rule: Rule): Rule =>
  (value, redactor) =>
    Array.isArray(value) ? value.map((one) => rule(one, redactor)) : redactor.hide(value);

/** Tokens by place: rows of `[id, at, value, due]`. */
const hideTokenRows: Rule = (value, redactor) =>
  toMembers(value, (rows, place) => {
    const schemas = redactor.findSchemas(place);
    return (Array.isArray(rows) ? rows : []).map((row: Json) =>
      Array.isArray(row)
        ? row.map((part: Json, index) => (index === 2 ? redactor.hide(part, schemas) : part))
        : redactor.hide(row),
    );
  });

/** Applies a rule to each member of an object, whose names stay. */
function toMembers(value: Json, to: (one: Json, name: string) => Json): JsonObject {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(members.map(([name, one]) => [name, to(one, name)]));
}

/** The marking with which a trimmed journal begins. No firing is in flight there. */
const hideMarking: Rule = (value, redactor) =>
  redactor.apply(value, {
    ...keepAll('format net seq at'),
    firings: () => [],
    tokens: hideTokenRows,
    lists: (lists) =>
      toMembers(lists, (list, place) => {
        const schemas: Schemas = [{ items: { anyOf: [...redactor.findSchemas(place)] } }];
        return redactor.apply(list, {
          ...keepAll('version origins'),
          items: (items) => redactor.hide(items, schemas),
        });
      }),
    maps: (maps) => toMembers(maps, (entries) => toEntries(hide)(entries, redactor)),
    shared: toEntries(keep),
  });

const RECORD: Readonly<Record<string, Rule>> = {
  ...keepAll(
    'seq at kind t take reset aborted pin timeoutAt firing outcome dueAt attempt',
    'cause from to moved clocks owner epoch place net',
  ),
  key: hide,
  reason: hide,
  error: keepOnly('code'),
  give: hideDeposits,
  lists: toItems(hideListChange),
  maps: toItems((value, redactor) =>
    redactor.apply(value, {
      place: keep,
      replace: keep,
      delete: hideStateKeys,
      set: toEntries(hide),
      append: toEntries(hide),
      // Amounts are added, so they stay numbers.
      increment: toEntries(() => 0),
    }),
  ),
  entries: toEntries(hide),
  versions: toEntries(keep),
  marking: hideMarking,
};

const SOURCE = declared('type media_type data url file_id');

const EVENT: Readonly<Record<string, Rule>> = {
  ...keepAll(
    'id type seq processed_at name is_error evaluated_permission tool_use_id',
    'mcp_tool_use_id custom_tool_use_id session_thread_id stop_reason model_usage',
  ),
  result: (value, redactor) =>
    value === 'allow' || value === 'deny' ? value : redactor.hide(value),
  content: toItems((value, redactor) =>
    redactor.apply(
      value,
      { type: keep, source: (source) => redactor.hide(source, [SOURCE]) },
      hide,
    ),
  ),
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
 * Creates a redactor for one export. Texts become their lengths and a hash, numbers 0, and boolean values false. A key
 * stays if the format of records and events or a place of the net declares it. Others were written by users, models and
 * tools, and become their lengths and a hash too. Names of places, transitions and tools stay, times, and numbers of
 * tokens.
 * @param net the described net of the session; null: no key of a token is declared
 */
export function createJournalRedactor(net: Json): JournalRedactor {
  const redactor = new Redactor(readPlaceSchemas(net));
  return {
    record: (record) => redactor.apply(record, RECORD),
    event: (event) => redactor.apply(event, EVENT, hide),
    session: (session) => redactor.apply(session, SESSION, hide),
  };
}

/** The schemas of the places of a net, by their names. */
function readPlaceSchemas(net: Json): ReadonlyMap<string, Schemas> {
  const places = isJsonObject(net) && Array.isArray(net['places']) ? net['places'] : [];
  return new Map(
    places.flatMap((place) => {
      if (!isJsonObject(place)) return [];
      const { name, schema } = place;
      return typeof name === 'string' && isJsonObject(schema) ? [[name, [schema]]] : [];
    }),
  );
}

class Redactor {
  // A hash without a key could be looked up in a list of likely texts.
  readonly #key = randomBytes(32);
  readonly #places: ReadonlyMap<string, Schemas>;

  constructor(places: ReadonlyMap<string, Schemas>) {
    this.#places = places;
  }

  findSchemas(place: Json): Schemas {
    return (typeof place === 'string' ? this.#places.get(place) : undefined) ?? [];
  }

  /** @param others the rule of members without one. Without it, they are left out. */
  apply(value: Json, rules: Readonly<Record<string, Rule>>, others?: Rule): JsonObject {
    const members = isJsonObject(value) ? Object.entries(value) : [];
    return Object.fromEntries(
      members.flatMap(([name, one]) => {
        const rule = readOwn(rules, name) ?? others;
        return rule === undefined ? [] : [[name, rule(one, this)]];
      }),
    );
  }

  /** @param schemas what declares keys of the value. Default: nothing. */
  hide(value: Json, schemas: Schemas = []): Json {
    if (Array.isArray(value)) {
      const items = findItems(schemas);
      return value.map((one: Json) => this.hide(one, items));
    }
    if (isJsonObject(value)) {
      const others = findOthers(schemas);
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => {
          const member = findMember(schemas, key);
          if (member !== undefined) return [key, this.hide(one, member)];
          return [this.#hideKey(key), this.hide(one, others)];
        }),
      );
    }
    if (typeof value === 'string') return `text(${value.length}) #${this.#hash(value)}`;
    if (typeof value === 'number') return 0;
    return value === null ? null : false;
  }

  /** The scope of a key stays: shared state is applied in another way. */
  hideStateKey(key: string): string {
    const { scope, name } = parseStateKey(key);
    return formatStateKey(scope, this.#hideKey(name));
  }

  /** Longer than the hash of a value: two keys of an object must not become one. */
  #hideKey(key: string): string {
    return `key(${key.length}) #${this.#hash(key, 12)}`;
  }

  #hash(text: string, digits = 8): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, digits);
  }
}
