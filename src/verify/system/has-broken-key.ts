import { parseTokenValue } from '../../net/internal.ts';
import type { ExpandedNet } from './expand.ts';

/** True if the key function of an initial token throws. No limit on faults counts the fault that follows. */
export function hasBrokenKey({ net, keys }: Pick<ExpandedNet, 'net' | 'keys'>): boolean {
  return net.initial.some(({ place, value, times }) =>
    (times > 0 ? keys.getKeyFunctions(place.name) : []).some((getKey) => {
      try {
        getKey(parseTokenValue(place, value));
        return false;
      } catch {
        return true;
      }
    }),
  );
}
