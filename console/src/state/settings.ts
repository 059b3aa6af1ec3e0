import { effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { Price } from '../usage/prices.ts';

/** How the console looks and what it sends. `remember` also stores the key on this machine. */
export interface Settings {
  readonly key: string;
  readonly remember: boolean;
  readonly theme: 'system' | 'light' | 'dark';
  readonly times: 'local' | 'utc';
  readonly readOnly: boolean;
  /** Regular expressions. What they match is not shown and not exported. */
  readonly redact: readonly string[];
  /** What models cost, as far as it was entered. */
  readonly prices: readonly Price[];
}

const STORED = 'petrichor-console';

const DEFAULTS: Settings = {
  key: '',
  remember: false,
  theme: 'system',
  times: 'local',
  readOnly: false,
  redact: [],
  prices: [],
};

export const settings: Signal<Settings> = signal(readSettings());

/** Changes settings, and stores them on this machine. */
export function changeSettings(changes: Partial<Settings>): void {
  settings.value = { ...settings.value, ...changes };
}

/** Stores each change, and shows the page in the chosen theme. */
export function applySettings(): void {
  effect(() => {
    const { key, ...rest } = settings.value;
    document.documentElement.dataset['theme'] = rest.theme;
    try {
      localStorage.setItem(STORED, JSON.stringify(rest.remember ? { ...rest, key } : rest));
    } catch {
      // The browser stores nothing: the settings last as long as the page.
    }
  });
}

function readSettings(): Settings {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '{}');
    return isRecord(stored) ? pickKnown(stored) : DEFAULTS;
  } catch {
    return DEFAULTS;
  }
}

/** Takes only values of the right type: an earlier release may have stored others. */
function pickKnown(stored: Record<string, unknown>): Settings {
  const same = Object.entries(DEFAULTS).filter(
    ([name, value]) =>
      typeof stored[name] === typeof value && Array.isArray(stored[name]) === Array.isArray(value),
  );
  return { ...DEFAULTS, ...Object.fromEntries(same.map(([name]) => [name, stored[name]])) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
