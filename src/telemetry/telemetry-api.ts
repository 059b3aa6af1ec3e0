import type * as api from '@opentelemetry/api';

/** The OpenTelemetry API, loaded when telemetry is opened. */
export type TelemetryApi = typeof api;
