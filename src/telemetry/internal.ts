/** Exports of `telemetry/` for other folders of `src/`. */

export { isSdkRegistered } from './is-sdk-registered.ts';
