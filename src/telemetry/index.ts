export { GenAi, Petrichor } from './attribute-names.ts';
export { MissingTelemetryPackageError } from './missing-telemetry-package-error.ts';
export { openTelemetry, type Telemetry, type TelemetryOptions } from './open-telemetry.ts';
