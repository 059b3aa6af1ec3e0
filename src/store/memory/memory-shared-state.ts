import { listConflicts, writtenValues } from '../../core/internal.ts';
import {
  formatStateKey,
  getStateScope,
  parseStateKey,
  type Json,
  type SessionKey,
} from '../../core/index.ts';
import type { SharedItem } from '../store-item.ts';
import type { SettledStep, SharedState } from '../store.ts';

interface SharedValue {
  readonly value: Json | undefined;
  readonly version: number;
}

/** The user and app state of a `MemoryStore`. A removed key keeps its version. */
export class MemorySharedState {
  readonly #valuesByScope = new Map<string, Map<string, SharedValue>>();

  read(scope: { readonly appName: string; readonly userId: string }): SharedState {
    const entries: [string, Json][] = [];
    const versions: [string, number][] = [];
    for (const name of [toScopeName('app:', scope), toScopeName('user:', scope)]) {
      for (const [key, { value, version }] of this.#valuesByScope.get(name) ?? []) {
        if (value !== undefined) entries.push([key, value]);
        versions.push([key, version]);
      }
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  isEmpty(): boolean {
    return this.#valuesByScope.size === 0;
  }

  /** All entries, also those of deleted keys. */
  items(): readonly SharedItem[] {
    return [...this.#valuesByScope].flatMap(([scope, values]) => {
      const [appName = '', userId = ''] = scope.split('\0');
      return [...values].map(([key, { value, version }]): SharedItem => {
        const { name } = parseStateKey(key);
        const item = { type: 'shared', appName, userId, name, version } as const;
        return value === undefined ? item : { ...item, value };
      });
    });
  }

  /** Takes an entry as it is, with its version. */
  put({ appName, userId, name, value, version }: SharedItem): void {
    const key = formatStateKey(userId === '' ? 'app' : 'user', name);
    const scope = toScopeName(key, { appName, userId });
    const values = this.#valuesByScope.get(scope) ?? new Map<string, SharedValue>();
    values.set(key, { value, version });
    this.#valuesByScope.set(scope, values);
  }

  /** Lists the keys whose version changed after the step read them. */
  findChangedKeys({ key, shared }: SettledStep): readonly string[] {
    return listConflicts(shared?.reads ?? {}, (name) => this.#get(key, name).version);
  }

  write({ key, shared }: SettledStep): void {
    if (shared === undefined) return;
    const written = writtenValues(shared.writes, (name) => this.#get(key, name).value);
    for (const [name, value] of written) {
      const scope = toScopeName(name, key);
      const values = this.#valuesByScope.get(scope) ?? new Map<string, SharedValue>();
      values.set(name, { value, version: this.#get(key, name).version + 1 });
      this.#valuesByScope.set(scope, values);
    }
  }

  #get(key: SessionKey, name: string): SharedValue {
    const values = this.#valuesByScope.get(toScopeName(name, key));
    return values?.get(name) ?? { value: undefined, version: 0 };
  }
}

function toScopeName(
  name: string,
  { appName, userId }: { readonly appName: string; readonly userId: string },
): string {
  return getStateScope(name) === 'app' ? appName : `${appName}\0${userId}`;
}
