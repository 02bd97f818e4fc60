# The way of `unshare`: a root of its own, with nothing but what is named.
# sh box.sh EMPTY_FOLDER PATH ... -- COMMAND ...
set -e
umask 022
mount -t tmpfs -o mode=755,size=4m none "$1"
cd "$1"
shift
mkdir dev tmp
mount -t tmpfs -o mode=1777,size=64m,nosuid,nodev none tmp
while [ "$1" != -- ]; do
  mkdir -p "./$1"
  mount --rbind "$1" "./$1"
  mount -o remount,bind,ro,nosuid,nodev "./$1"
  shift
done
shift
for link in /bin /lib /lib64 /sbin; do
  if [ -L $link ]; then cp -P $link .$link; fi
done
for device in null zero urandom; do
  : > dev/$device
  mount --bind /dev/$device dev/$device
done
mount -o remount,bind,ro .
exec chroot . "$@"
