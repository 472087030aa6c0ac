/** undici names these in its client for HTTP/2, which is never made here. */
export const constants = {};
