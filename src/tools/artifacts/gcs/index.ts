export { MissingArtifactPackageError } from '../load-artifact-package.ts';
export { GcsArtifactService, type GcsArtifactOptions } from './gcs-artifact-service.ts';
