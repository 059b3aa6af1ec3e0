import { type SessionKey, parseStateKey } from '../../core/index.ts';

/** The key columns of a shared state key. The state of an app has an empty user. */
export function toSharedColumns(
  { appName, userId }: Pick<SessionKey, 'appName' | 'userId'>,
  key: string,
): readonly [app: string, user: string, name: string] {
  const { scope, name } = parseStateKey(key);
  return [appName, scope === 'app' ? '' : userId, name];
}
