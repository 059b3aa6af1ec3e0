import { checkChoice } from '../../core/internal.ts';
import type { PendingCallQuery, SessionFilter } from '../store.ts';
import { STORED_STATUSES } from './row-status.ts';

/** The orders of a list of ids. */
export const DIRECTIONS: readonly string[] = ['ascending', 'descending'];

/**
 * Checks the words of a session filter, because an unknown one would be taken for the default.
 * @throws InvalidInputError
 */
export function checkSessionFilter({ order, direction, status, activity }: SessionFilter): void {
  checkChoice('order', order, ['changed', 'created']);
  checkChoice('direction', direction, DIRECTIONS);
  checkChoice('status', status, STORED_STATUSES);
  checkChoice('activity', activity, ['idle', 'running', 'waiting']);
}

/** @throws InvalidInputError */
export function checkPendingCallQuery({ needs }: PendingCallQuery): void {
  checkChoice('needs', needs, ['approval', 'result']);
}
