import {
  formatSessionKey,
  InvalidInputError,
  isJsonObject,
  parseSessionKey,
} from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';

/** What a node sends through Restate to the node that drives a session. */
export interface DriveRequest {
  readonly key: SessionKey;
  /** The id of the dispatch request. */
  readonly id: string;
  /** Number of drives for this request that left the session alone. */
  readonly attempt: number;
}

/**
 * Checks a request that came through Restate.
 * @param objectKey the key of the virtual object
 * @throws InvalidInputError, also when the request is for another session than the object, or of another application
 */
export function parseDriveRequest(value: unknown, objectKey: string, app: string): DriveRequest {
  const request = isJsonObject(value) ? value : {};
  const key = parseSessionKey(request['key']);
  const { id, attempt } = request;
  if (
    formatSessionKey(key) !== objectKey ||
    key.appName !== app ||
    typeof id !== 'string' ||
    typeof attempt !== 'number' ||
    !Number.isSafeInteger(attempt) ||
    attempt < 0
  )
    throw new InvalidInputError(
      'request',
      'is not a request of this application for this session.',
    );
  return { key, id, attempt };
}
