import type * as api from '@opentelemetry/api';

/** OpenTelemetry's interface, loaded when telemetry is opened. */
export type TelemetryApi = typeof api;
