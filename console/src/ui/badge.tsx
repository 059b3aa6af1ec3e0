import type { JSX } from 'preact';
import type { SessionRow, SessionState } from '../api/types.ts';

export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet' | 'info';

const TONES: Readonly<Record<SessionState, Tone>> = {
  queued: 'info',
  running: 'busy',
  idle: 'quiet',
  waiting: 'wait',
  rescheduling: 'busy',
  paused: 'info',
  failed: 'bad',
  completed: 'good',
  archived: 'quiet',
};

/** A word with a shape: the color is never the only sign. */
export function Badge({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={`badge badge-${tone}`}>
      <span class="badge-sign" aria-hidden="true" />
      {text}
    </span>
  );
}

/** The word for what a session does. */
export function StateBadge({ session }: { readonly session: SessionRow }): JSX.Element {
  const state = toState(session);
  return <Badge tone={TONES[state]} text={state} />;
}

/** The state of a session. An older server sends fewer words. */
export function toState(session: SessionRow): SessionState {
  if (session.state !== undefined) return session.state;
  if (session.archived_at !== null || session.status === 'terminated') return 'archived';
  if (session.paused) return 'paused';
  return session.status;
}
