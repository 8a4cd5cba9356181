/** The groups of calls of this folder; a further one is one line. */
export { licenseOrders, licenses, offlineLicense, offlineLicenses, ownLicense } from './licences.ts';
