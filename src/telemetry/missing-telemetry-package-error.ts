import { PetrichorError } from '../core/index.ts';

/**
 * The package `@opentelemetry/api` is not installed.
 * @remedy Run `npm install @opentelemetry/api`.
 */
export class MissingTelemetryPackageError extends PetrichorError {
  override readonly code = 'missing_telemetry_package' as const;

  constructor(cause: unknown) {
    super('Telemetry needs the package "@opentelemetry/api": npm install @opentelemetry/api.', {
      cause,
    });
  }
}
