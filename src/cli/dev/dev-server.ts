import { createInterface } from 'node:readline';
import { once } from 'node:events';
import type { ExitCode } from '../command/exit-code.ts';
import { oneLine } from '../terminal/printable.ts';
import { serve } from '../serve/serve.ts';
import type { ServeCall } from '../serve/serve-options.ts';
import { formatControlLine } from './control-line.ts';
import { createDevModels } from './dev-models.ts';
import type { DevCall } from './dev-options.ts';

/**
 * A warning of `petrichor dev`: a model has no API key, so its answers are scripted.
 * @remedy Set the environment variable that the message names, to try the model itself.
 */
const SCRIPTED = 'scripted';

/** The server of `petrichor dev`, in its own process: it loads the file, waits for a line with the port, and serves. */
export async function serveForDev(call: DevCall): Promise<ExitCode> {
  const { values, stdin, stdout, stderr, env } = call;
  const { 'no-open': _, scripted: isScripted, ...shared } = values;
  const input = createInterface({ input: stdin });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has all options of serve; its generic type loses them
  const serveValues = {
    ...shared,
    console: true,
    agents: undefined,
  } as unknown as ServeCall['values'];
  const serveCall: ServeCall = { ...call, values: serveValues };
  try {
    return await serve(serveCall, {
      onLoaded: async () => {
        const line = once(input, 'line');
        stdout.write(formatControlLine({ dev: 'loaded' }));
        const [port]: readonly unknown[] = await line;
        return port === '' ? {} : { port: Number(port) };
      },
      onListening: (url, port) => {
        stdout.write(formatControlLine({ dev: 'listening', url, port }));
      },
      createModels: (modelOrigins) =>
        createDevModels({
          env,
          modelOrigins,
          isScripted,
          onScripted: (reason) => {
            stderr.write(
              values.json
                ? `${JSON.stringify({ type: 'warning', code: SCRIPTED, message: reason })}\n`
                : `Warning: ${oneLine(reason, 2000)}\n`,
            );
          },
        }),
    });
  } finally {
    input.close();
  }
}
