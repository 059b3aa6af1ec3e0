export { MissingArtifactPackageError } from '../missing-artifact-package-error.ts';
export { GcsArtifactService, type GcsArtifactOptions } from './gcs-artifact-service.ts';
