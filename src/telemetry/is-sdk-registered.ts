import { importOptional } from '../core/internal.ts';
import { MissingTelemetryPackageError } from './missing-telemetry-package-error.ts';

/**
 * Whether this process has registered an OpenTelemetry SDK that records spans. Nothing is traced to find out.
 * @throws MissingTelemetryPackageError if `@opentelemetry/api` is not installed
 */
export async function isSdkRegistered(): Promise<boolean> {
  const { trace, ProxyTracerProvider } = await importOptional(
    import('@opentelemetry/api'),
    (cause) => new MissingTelemetryPackageError(cause),
  );
  const provider = trace.getTracerProvider();
  return !(
    provider instanceof ProxyTracerProvider && provider.getDelegateTracer('petrichor') === undefined
  );
}
