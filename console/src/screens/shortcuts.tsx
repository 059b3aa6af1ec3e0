import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { navigate, toHref } from '../state/route.ts';
import { Dialog } from '../ui/dialog.tsx';

const isOpen = signal(false);

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['g s', 'Sessions'],
  ['g i', 'Inbox'],
  ['g c', 'Schedules'],
  ['g a', 'Agents'],
  ['g p', 'Proofs'],
  ['g t', 'Traces'],
  ['g u', 'Usage'],
  ['g q', 'Quotas'],
  ['/', 'Search'],
  ['c', 'Write a message'],
  ['← →', 'Timeline: one record back or forward'],
  ['⇧ ← →', 'Timeline: one settled step'],
  ['⌥ ← →', 'Timeline: one turn'],
  ['Space', 'Timeline: play or stop'],
  ['Home, End', 'Timeline: the beginning, live'],
  ['+ − 0', 'Net: larger, smaller, all of it'],
  ['?', 'This list'],
];

const SCREENS: Readonly<Record<string, string>> = {
  s: 'sessions',
  i: 'inbox',
  c: 'schedules',
  a: 'agents',
  p: 'proofs',
  t: 'traces',
  u: 'usage',
  q: 'quotas',
};

/** Keys that work on every screen, and the list of all keys. */
export function Shortcuts(): JSX.Element | null {
  useEffect(() => {
    let prefix = '';
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const before = prefix;
      prefix = event.key === 'g' ? 'g' : '';
      const screen = before === 'g' ? SCREENS[event.key] : undefined;
      if (screen !== undefined) navigate(toHref([screen]));
      else if (event.key === '?') isOpen.value = true;
      else if (event.key === '/') focus(event, 'search');
      else if (event.key === 'c') focus(event, 'compose');
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!isOpen.value) return null;
  return (
    <Dialog title="Keys" onClose={() => (isOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function focus(event: KeyboardEvent, name: string): void {
  const found = document.querySelector(`[data-shortcut="${name}"]`);
  if (!(found instanceof HTMLElement)) return;
  event.preventDefault();
  found.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
