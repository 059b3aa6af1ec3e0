import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { restateDispatcher } from '../../interop/restate/index.ts';
import type { SessionDispatcher } from '../../runtime/index.ts';
import { parseDuration } from '../terminal/duration.ts';
import { UsageError } from '../command/usage-error.ts';
import type { ServeCall } from './serve-options.ts';

const RESTATE = 'restate=';

/** The dispatcher that `--dispatch` names. Undefined: the servers find sessions in the store. @throws UsageError */
export function parseDispatcher({
  values,
  env,
}: Pick<ServeCall, 'values' | 'env'>): SessionDispatcher | undefined {
  const { dispatch } = values;
  if (dispatch === undefined) {
    const [other] = (['dispatch-listen', 'dispatch-key', 'dispatch-timeout'] as const).filter(
      (name) => values[name] !== undefined && values[name].length > 0,
    );
    if (other === undefined) return undefined;
    throw new UsageError(`--${other} needs --dispatch restate=URL.`, 'serve');
  }
  if (!dispatch.startsWith(RESTATE))
    throw new UsageError(
      `--dispatch must be restate= and the URL of Restate's ingress: restate=http://127.0.0.1:8080.`,
      'serve',
    );
  try {
    return restateDispatcher({
      ingress: dispatch.slice(RESTATE.length),
      identityKeys: values['dispatch-key'],
      ...parseListen(values['dispatch-listen']),
      ...parseTimeout(values['dispatch-timeout']),
      ...omitUndefined({ token: env['RESTATE_AUTH_TOKEN'] }),
    });
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new UsageError(`--dispatch: ${error.message}`, 'serve');
  }
}

function parseTimeout(value: string | undefined): { readonly maxDriveMs?: number } {
  if (value === undefined) return {};
  const maxDriveMs = parseDuration(value);
  if (maxDriveMs !== undefined) return { maxDriveMs };
  throw new UsageError(
    `--dispatch-timeout must be a duration such as 90s or 10m; it is "${value}".`,
    'serve',
  );
}

/** Reads `ADDRESS:PORT`, `[ADDRESS]:PORT` or `PORT`. */
function parseListen(value: string | undefined): {
  readonly port?: number;
  readonly hostname?: string;
} {
  if (value === undefined) return {};
  const { hostname, port } = /^(?:(?<hostname>.+):)?(?<port>\d{1,5})$/.exec(value)?.groups ?? {};
  if (port === undefined)
    throw new UsageError(
      `--dispatch-listen must be a port, or an address and a port: 9080, 10.0.0.5:9080; it is "${value}".`,
      'serve',
    );
  const address = hostname?.replace(/^\[(.*)\]$/, '$1');
  return { port: Number(port), ...omitUndefined({ hostname: address }) };
}
