import { openTelemetry, type Telemetry } from '../../telemetry/index.ts';
import { isSdkRegistered } from '../../telemetry/internal.ts';
import type { ServeCall } from './serve-options.ts';

/**
 * Opens the traces of `--telemetry`, with the SDK that the process registered before it started. Warns if there is none,
 * because nothing would be traced.
 * @throws MissingTelemetryPackageError
 */
export async function openServedTelemetry({ stderr }: ServeCall): Promise<Telemetry> {
  const telemetry = await openTelemetry();
  if (!(await isSdkRegistered()))
    stderr.write(
      'Warning: --telemetry: no OpenTelemetry SDK is registered, so nothing is traced. Register one before the server starts, for example with NODE_OPTIONS=--import=@opentelemetry/auto-instrumentations-node/register.\n',
    );
  return telemetry;
}
