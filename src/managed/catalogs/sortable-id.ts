import type { Clock } from '../../net/index.ts';

/** Creates a generator of unique ids that sort in order of creation, within the resolution of the clock. */
export function createIdGenerator(clock: Clock): (prefix: string) => string {
  let made = 0;
  return (prefix) => {
    made++;
    const time = clock.now().toString(36).padStart(9, '0');
    const count = (made % 1_679_616).toString(36).padStart(4, '0');
    const random = globalThis.crypto.randomUUID().replaceAll('-', '').slice(0, 12);
    return `${prefix}_${time}${count}${random}`;
  };
}
