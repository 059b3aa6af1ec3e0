export { restateDispatcher, type RestateDispatcher } from './restate-dispatcher.ts';
export type { RestateOptions } from './restate-options.ts';
export { MissingRestatePackageError, RestateUnavailableError } from './restate-errors.ts';
