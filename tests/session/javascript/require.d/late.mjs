export const late = await new Promise(r=>setTimeout(r,1,'waited'));
