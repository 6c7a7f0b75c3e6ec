// Made by build.mjs from the files of views/.
declare module "views" {
  export const views: import("./view").View[];
}
