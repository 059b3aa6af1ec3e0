import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port that was free a moment ago. It is outside the range of ephemeral ports, so that no other test and no connection
 * takes it while the server on it restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    const free = await isFree;
    server.close();
    if (free) return port;
  }
}
