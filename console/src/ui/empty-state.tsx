import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

export interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** Whether it is the whole screen, which then has no other heading. Default: false. */
  readonly isScreen?: boolean;
  readonly children?: ComponentChildren;
}

/** Says why there is nothing to see, and what to do. */
export function EmptyState({
  icon,
  title,
  isScreen = false,
  children,
}: EmptyStateProps): JSX.Element {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      {isScreen ? <h1>{title}</h1> : <h2>{title}</h2>}
      <div class="empty-text">{children}</div>
    </div>
  );
}

/** Shows that a screen could not be read. */
export function Failure({
  error,
  isScreen = false,
}: {
  readonly error: Error;
} & Pick<EmptyStateProps, 'isScreen'>): JSX.Element {
  const status: unknown = 'status' in error ? error.status : undefined;
  return (
    <EmptyState
      icon="close"
      title={status === 401 ? 'A key is needed' : 'That did not work'}
      isScreen={isScreen}
    >
      <p>{error.message}</p>
      {status === 401 && <p>Enter the key of the server under Settings.</p>}
    </EmptyState>
  );
}

/** Grey rows in the place of what is read. */
export function Loading({ rows = 6 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class="loading-row" />
      ))}
    </div>
  );
}
