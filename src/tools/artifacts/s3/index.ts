export { MissingArtifactPackageError } from '../missing-artifact-package-error.ts';
export { S3ArtifactService, type S3ArtifactOptions } from './s3-artifact-service.ts';
export { S3ObjectStore, type S3ObjectStoreOptions } from './s3-object-store.ts';
