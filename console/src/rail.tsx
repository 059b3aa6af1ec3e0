import type { JSX } from 'preact';
import { config, online } from './state/connection.ts';
import { lists } from './state/lists.ts';
import { route, toHref } from './state/route.ts';
import { Icon } from './ui/icon.tsx';
import type { IconName } from './ui/icon.tsx';

const SCREENS: readonly { readonly name: string; readonly icon: IconName }[] = [
  { name: 'sessions', icon: 'sessions' },
  { name: 'inbox', icon: 'inbox' },
  { name: 'schedules', icon: 'schedules' },
  { name: 'agents', icon: 'agents' },
  { name: 'proofs', icon: 'proofs' },
  { name: 'traces', icon: 'traces' },
  { name: 'usage', icon: 'usage' },
  { name: 'quotas', icon: 'quotas' },
  { name: 'settings', icon: 'settings' },
];

/** The way to every screen. */
export function Rail(): JSX.Element {
  const [segment = 'sessions'] = route.value.segments;
  const current = ['s', 'compare', 'file'].includes(segment) ? 'sessions' : segment;
  const waiting = lists.value.pending.calls.value.length;
  return (
    <nav class="rail" aria-label="Screens">
      <a class="brand" href={toHref(['sessions'])} aria-label="Petrichor console">
        <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-box" />
          <path
            d="M16 6c4.200 5 6.600 8.200 6.600 11.600a6.600 6.600 0 0 1-13.200 0C9.400 14.200 11.800 11 16 6z"
            class="brand-drop"
          />
          <circle cx="16" cy="17.800" r="2.400" class="brand-token" />
        </svg>
        <span class="brand-name">petrichor</span>
      </a>
      <ul>
        {SCREENS.map(({ name, icon }) => (
          <li key={name}>
            <a
              href={toHref([name])}
              class="rail-link"
              title={name}
              aria-current={name === current ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span class="rail-text">{name}</span>
              {name === 'inbox' && waiting > 0 && (
                <span class="rail-count" aria-label={`${waiting} waiting`}>
                  {waiting}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <p class="rail-foot">
        <span class={online.value ? 'dot dot-good' : 'dot dot-wait'} aria-hidden="true" />
        <span class="rail-text">
          {config.value.store ?? (online.value ? 'connected' : 'reconnecting')}
          {config.value.version !== '' && <small>{config.value.version}</small>}
        </span>
      </p>
    </nav>
  );
}
