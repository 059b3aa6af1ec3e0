import { openTelemetry } from '../../telemetry/index.ts';
import type { Telemetry, TelemetryOptions } from '../../telemetry/index.ts';
import { BasePlugin } from './base-plugin.ts';

/** Traces the sessions of an app with OpenTelemetry: see `openTelemetry`. Open spans end when the runner closes. */
export class OpenTelemetryPlugin extends BasePlugin {
  override readonly interceptor: Telemetry;

  /** @throws MissingTelemetryPackageError if `@opentelemetry/api` is not installed */
  static async open(options: TelemetryOptions = {}): Promise<OpenTelemetryPlugin> {
    return new OpenTelemetryPlugin(await openTelemetry(options));
  }

  constructor(telemetry: Telemetry) {
    super('open_telemetry');
    this.interceptor = telemetry;
  }

  override async close(): Promise<void> {
    await this.interceptor[Symbol.asyncDispose]();
  }
}
