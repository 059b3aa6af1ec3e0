import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly deliveries: readonly ReceivedDelivery[];
  /** Resolves when that many requests have arrived. */
  readonly waitFor: (count: number) => Promise<void>;
}

/** A third-party server that receives webhooks and sends the configured responses. */
export async function webhookReceiver(
  answer: (
    received: ReceivedDelivery,
    count: number,
  ) => { readonly status: number; readonly body?: string },
): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const one = { headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const { status, body = '' } = answer(one, received.length);
      response.writeHead(status).end(body);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/hook`,
    host,
    deliveries: received,
    waitFor: async (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
