# Runs a server and ends it when the standard input closes.
#
#   sh watchdog.sh FOLDER PROGRAM ARGUMENT...
#
# Each line of the input is a signal for the server; STOP and CONT also go to its children. At the
# end of the input, the script shuts the server down immediately and deletes FOLDER. The output ends
# when the last process of the server has exited.
exec 2>&1
trap '' PIPE
folder=$1
shift

"$@" </dev/null 3<&- &
server=$!

# The list of children is complete only while their parent is stopped, so the parent stops first and
# continues last. A child that has just exited is not an error.
children() {
    cat "/proc/$server/task/$server/children"
}

halt() {
    kill -s STOP "$server"
    kill -s STOP $(children) 2>/dev/null
    return 0
}

go_on() {
    kill -s CONT $(children) 2>/dev/null
    kill -s CONT "$server"
}

obey() {
    while read -r signal; do
        case $signal in
            STOP) halt && echo 'watchdog: paused' ;;
            CONT) go_on && echo 'watchdog: resumed' ;;
            *) kill -s "$signal" "$server" ;;
        esac
    done
    go_on
    kill -s QUIT "$server"
}

exec 3<&0
obey <&3 &
obeying=$!
exec 3<&- </dev/null

wait "$server"
kill "$obeying" 2>/dev/null
wait "$obeying" && rm -rf -- "$folder"
