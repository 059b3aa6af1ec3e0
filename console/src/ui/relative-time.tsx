import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { formatAge, formatFullTime, formatUntil } from './format.ts';

/** Changes each 15 seconds, so that ages stay right. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 15_000);

/** How long ago something was. The tooltip has the time. */
export function RelativeTime({ at }: { readonly at: string | number }): JSX.Element {
  return (
    <time dateTime={new Date(at).toISOString()} title={formatFullTime(at)}>
      {formatAge(at, Math.max(now.value, Date.now()))}
    </time>
  );
}

/** How long it is until a time. The tooltip has the time. */
export function DueTime({ at }: { readonly at: string | number }): JSX.Element {
  return (
    <time dateTime={new Date(at).toISOString()} title={formatFullTime(at)}>
      {formatUntil(at, Math.max(now.value, Date.now()))}
    </time>
  );
}
